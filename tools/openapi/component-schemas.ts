import type { DescEnum, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { commentOf } from "./comments.ts";
import type { TypeSchemas } from "./field-schema.ts";
import { messageSchema } from "./message-schema.ts";
import { isFirstName } from "./value-rules.ts";
import { wellKnownSchema } from "./well-known.ts";

/** The schemas under `components`, created when they are first referred to. */
export interface ComponentSchemas extends TypeSchemas {
  /** Adds a schema with this name. @returns a reference to it. @throws Error if another schema has the name */
  add(name: string, schema: JsonObject): JsonObject;
  /** All schemas so far, sorted by name. */
  all(): JsonObject;
}

/**
 * Names omit the package for messages of these packages. A message that is in requests and in replies has two schemas,
 * the one for requests with the suffix `Input`.
 * @param replies the messages that methods reply with
 */
export function createComponentSchemas(
  packages: ReadonlySet<string>,
  replies: readonly DescMessage[],
): ComponentSchemas {
  const schemas = new Map<string, { readonly of: unknown; schema: JsonObject }>();
  const inReplies = new Set<DescMessage>();
  for (const message of replies) collect(message, inReplies);

  const shortName = ({ typeName, file }: DescMessage | DescEnum) =>
    packages.has(file.proto.package) ? typeName.slice(file.proto.package.length + 1) : typeName;

  const refer = (name: string, of: unknown, make: () => JsonObject): JsonObject => {
    const known = schemas.get(name);
    if (known !== undefined && known.of !== of) throw new Error(`two schemas have the name ${name}`);
    if (known === undefined) {
      // Registered before it is built, because a message may contain itself.
      const entry = { of, schema: {} };
      schemas.set(name, entry);
      entry.schema = make();
    }
    return { $ref: `#/components/schemas/${name}` };
  };

  const types: ComponentSchemas = {
    ofMessage(message, direction) {
      const suffix = direction === "input" && inReplies.has(message) ? "Input" : "";
      const key = `${direction} ${message.typeName}`;
      return (
        wellKnownSchema(message) ??
        refer(`${shortName(message)}${suffix}`, key, () => messageSchema(message, direction, types))
      );
    },
    ofEnum: (enumeration) =>
      enumeration.typeName === "google.protobuf.NullValue"
        ? { type: "null" }
        : refer(shortName(enumeration), enumeration.typeName, () => enumSchema(enumeration)),
    add: (name, schema) => refer(name, schema, () => schema),
    all: () =>
      Object.fromEntries(
        [...schemas].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, { schema }]) => [name, schema]),
      ),
  };
  return types;
}

/** Values are listed by name. A second name of a number is omitted. */
function enumSchema(enumeration: DescEnum): JsonObject {
  const values = enumeration.values.filter(isFirstName);
  const comments = values
    .map((value) => ({ name: value.name, comment: commentOf(value) }))
    .filter(({ comment }) => comment !== "")
    .map(({ name, comment }) => `- \`${name}\`: ${comment.replaceAll("\n", "\n  ")}`);
  const description = [commentOf(enumeration), comments.join("\n")]
    .filter((text) => text !== "")
    .join("\n\n");
  return {
    type: "string",
    enum: values.map(({ name }) => name),
    ...(description === "" ? {} : { description }),
    ...(enumeration.deprecated ? { deprecated: true } : {}),
  };
}

function collect(message: DescMessage, into: Set<DescMessage>): void {
  if (into.has(message)) return;
  into.add(message);
  for (const field of message.fields) if (field.message !== undefined) collect(field.message, into);
}
