/**
 * The OpenAPI document as Markdown: a page for each tag, with its operations and the schemas that they use. Plain pages
 * are found by the site's search, need no scripts, and do not ask for a key, unlike those of the renderers on npm.
 */
import type { Page } from "./grpc-reference.ts";
import type { Body, OpenApi, Operation, Parameter, Reference, Reply, Schema } from "./open-api.ts";

/** Returns the pages, of which `rest.md` lists the operations. */
export function restReference(document: OpenApi): Page[] {
  const { tags } = document;
  const operations = Object.entries(document.paths).flatMap(([route, item]) =>
    Object.entries(item).map(([verb, operation]) => ({ operation, verb: verb.toUpperCase(), route })),
  );
  const of = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag));
  const rows = tags.flatMap(({ name }) =>
    of(name).map(
      ({ verb, route, operation: { operationId, summary } }) =>
        `| ${verb} | [\`${route}\`](./rest/${pageName(name)}.md#${operationId.toLowerCase()}) | ${cell(summary)} |`,
    ),
  );
  return [
    ["rest.md", [OVERVIEW, ["| Verb | Path | Purpose |", "|---|---|---|", ...rows].join("\n")].join("\n\n")],
    ...tags.map(({ name, description }): Page => {
      const page = new TagPage(document);
      const parts = of(name).map(({ operation, verb, route }) => page.describe(operation, verb, route));
      return [
        `rest/${pageName(name)}.md`,
        [`# ${name} over REST`, onOneLine(description), "## Calls", ...parts, ...page.schemas()].join("\n\n"),
      ];
    }),
  ];
}

const OVERVIEW = `# REST reference

A running service has this as an OpenAPI document at \`/openapi.json\`, so a generator can make a client from it. JSON
follows protobuf's mapping: see [how calls are served as REST](../transcoding.md). [API access](../api-access.md)
explains keys, headers and limits, and [errors](../errors.md) the reasons of failures.`;

/** Describes operations, and remembers the schemas that they mention. */
class TagPage {
  readonly #document: OpenApi;
  readonly #mentioned = new Set<string>();

  constructor(document: OpenApi) {
    this.#document = document;
  }

  describe(
    { operationId, description, summary, parameters = [], requestBody, responses }: Operation,
    verb: string,
    route: string,
  ): string {
    const { parameters: known, responses: replies } = this.#document.components;
    const inputs = parameters.map((given) => resolve<Parameter>(given, known));
    const outputs = Object.entries(responses).map(([code, given]) => ({
      code,
      reply: resolve<Reply>(given, replies),
    }));
    const succeeded = outputs.filter(({ code }) => /^[23]/.test(code));
    const failed = outputs.filter(({ reply }) => reply["x-reasons"] !== undefined);
    return [
      `### ${operationId}`,
      `\`${verb} ${route}\``,
      description ?? `${summary}.`,
      table(
        ["Parameter", "In", "Type", "Meaning"],
        inputs.map(({ name, in: place, required, schema, description: meaning = "" }) => [
          `\`${name}\`${required === true ? " (required)" : ""}`,
          place,
          this.#typeOf(schema),
          sentences(meaning, limitsOf(schema)),
        ]),
      ),
      requestBody === undefined ? "" : `Body: ${this.#bodyOf(requestBody)}`,
      succeeded
        .map(({ code, reply }) => `Reply ${code}: ${this.#bodyOf(reply) || onOneLine(reply.description)}`)
        .join("\n\n"),
      table(
        ["Status", "Reasons"],
        failed.map(({ code, reply }) => [
          code,
          (reply["x-reasons"] ?? []).map((reason) => `\`${reason}\``).join(", "),
        ]),
      ),
    ]
      .filter((part) => part !== "")
      .join("\n\n");
  }

  /** The sections of the mentioned schemas, and of those that they mention. */
  schemas(): string[] {
    const sections = new Map<string, string>();
    // A set also iterates over what is added meanwhile.
    for (const name of this.#mentioned) sections.set(name, this.#describeSchema(name));
    if (sections.size === 0) return [];
    return ["## Schemas", ...[...sections].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text)];
  }

  #describeSchema(name: string): string {
    const schema = this.#document.components.schemas[name] ?? {};
    const { properties = {}, required = [] } = schema;
    const rows = Object.entries(properties).map(([field, type]) => [
      `\`${field}\`${required.includes(field) ? " (required)" : ""}`,
      this.#typeOf(type),
      sentences(type.description ?? "", limitsOf(type)),
    ]);
    const values =
      schema.enum === undefined ? "" : `One of ${schema.enum.map((value) => `\`${value}\``).join(", ")}.`;
    return [`### ${name}`, schema.description ?? "", values, table(["Field", "Type", "Meaning"], rows)]
      .filter((part) => part !== "")
      .join("\n\n");
  }

  #bodyOf({ content = {} }: Body): string {
    return Object.entries(content)
      .map(([type, { schema }]) => `${this.#typeOf(schema)} as \`${type}\``)
      .join(", or ");
  }

  #typeOf(schema: Schema): string {
    const { $ref, type, format, contentEncoding, items, additionalProperties } = schema;
    if ($ref !== undefined) {
      const name = nameIn($ref);
      this.#mentioned.add(name);
      return `[\`${name}\`](#${name.toLowerCase().replaceAll(/[^\w-]/g, "")})`;
    }
    if (type === "array" && items !== undefined) return `list of ${this.#typeOf(items)}`;
    if (typeof additionalProperties === "object") return `map to ${this.#typeOf(additionalProperties)}`;
    return [type ?? "any", format ?? contentEncoding].filter((part) => part !== undefined).join(", ");
  }
}

/** The limits of a value in words. */
function limitsOf({
  pattern,
  minLength,
  maxLength,
  minItems,
  maxItems,
  minimum,
  maximum,
  format,
}: Schema): string {
  const bounds = (low: number | undefined, high: number | undefined, unit: string) =>
    high !== undefined
      ? `${low ?? 0} to ${high}${unit}.`
      : low !== undefined && low > 1
        ? `At least ${low}${unit}.`
        : "";
  return [
    bounds(minLength, maxLength, " characters"),
    bounds(minItems, maxItems, " items"),
    bounds(minimum, maximum, ""),
    // A 64-bit integer as text has a pattern that only says so.
    pattern !== undefined && format === undefined ? `Matches \`${pattern}\`.` : "",
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function resolve<T>(given: T | Reference, known: Readonly<Record<string, T>>): T {
  if (!isReference(given)) return given;
  const found = known[nameIn(given.$ref)];
  if (found === undefined) throw new Error(`the OpenAPI document has no ${given.$ref}`);
  return found;
}

function isReference(given: unknown): given is Reference {
  return typeof given === "object" && given !== null && "$ref" in given;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return "";
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.map(cell).join(" | ")} |`).join("\n");
}

const nameIn = (reference: string): string => reference.slice(reference.lastIndexOf("/") + 1);
const pageName = (tag: string): string => tag.toLowerCase();
const onOneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();
const cell = (text: string): string => onOneLine(text).replaceAll("|", "\\|");
const sentences = (...parts: string[]): string => parts.filter((part) => part !== "").join(" ");
