import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "yaml";

const text = { type: "string", minLength: 1 };
const closed = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: "object",
  additionalProperties: false,
  properties,
  required,
});
const list = (items: object) => ({ type: "array", minItems: 1, items });

/**
 * The settings that our files may contain, for programs without their own checker. A new setting must be added here.
 */
const SCHEMAS = {
  grafanaDatasources: closed({
    apiVersion: { const: 1 },
    datasources: list(
      closed({
        name: text,
        uid: text,
        type: { const: "prometheus" },
        access: { enum: ["proxy"] },
        url: { type: "string", pattern: "^https?://" },
        isDefault: { type: "boolean" },
        editable: { type: "boolean" },
      }),
    ),
  }),
  grafanaProviders: closed({
    apiVersion: { const: 1 },
    providers: list(
      closed({
        name: text,
        type: { const: "file" },
        allowUiUpdates: { type: "boolean" },
        options: closed({ path: { type: "string", pattern: "^/" } }),
      }),
    ),
  }),
  grafanaDashboard: {
    type: "object",
    required: ["uid", "title", "schemaVersion", "templating", "panels"],
    properties: {
      uid: text,
      title: text,
      schemaVersion: { type: "integer", minimum: 36 },
      panels: list({
        type: "object",
        required: ["id", "type", "gridPos"],
        properties: {
          id: { type: "integer" },
          type: { enum: ["row", "timeseries", "stat", "table", "gauge", "bargauge", "heatmap", "text"] },
        },
      }),
    },
  },
} as const;

/** Returns the faults of a Grafana file, in YAML or JSON. */
export function checkSettings(file: string, kind: keyof typeof SCHEMAS): string[] {
  const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(SCHEMAS[kind]);
  try {
    if (validate(parse(readFileSync(file, "utf8")))) return [];
  } catch (error) {
    return [`${file}: ${String(error)}`];
  }
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${file}: ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
