import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { fieldSchema, type TypeSchemas } from "./field-schema.ts";
import type { GivenPaths } from "./given-paths.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { requiredIn } from "./required-fields.ts";
import { isTextMessage, wellKnownSchema } from "./well-known.ts";

/**
 * Returns the query parameters of a binding: every field that is neither in the path nor in the body, those of nested
 * messages by dotted names. A repeated field is a repeated parameter. Maps and repeated messages cannot be parameters.
 */
export function queryParameters(
  { method, body }: HttpBinding,
  given: GivenPaths,
  types: TypeSchemas,
): JsonObject[] {
  if (body === "message") return [];
  const taken = new Set([...given, ...(body === "none" ? [] : [body.name])]);
  return parametersIn(
    method.input,
    { names: [], jsonNames: [], messages: [], isRequired: true },
    taken,
    types,
  );
}

/** The path from the request to a message. */
interface Way {
  readonly names: readonly string[];
  readonly jsonNames: readonly string[];
  /** The messages on the path, which are not entered again. */
  readonly messages: readonly DescMessage[];
  readonly isRequired: boolean;
}

function parametersIn(
  message: DescMessage,
  way: Way,
  taken: ReadonlySet<string>,
  types: TypeSchemas,
): JsonObject[] {
  if (way.messages.includes(message)) return [];
  const required = requiredIn(message);
  return message.fields.flatMap((field) => {
    const names = [...way.names, field.name];
    if (taken.has(names.join("."))) return [];
    const jsonNames = [...way.jsonNames, field.jsonName];
    const isRequired = way.isRequired && required.has(field);
    if (isText(field)) return [parameter(field, jsonNames.join("."), isRequired, types)];
    const inner = field.fieldKind === "message" && wellKnownSchema(field.message) === undefined;
    if (!inner) return [];
    const messages = [...way.messages, message];
    return parametersIn(field.message, { names, jsonNames, messages, isRequired }, taken, types);
  });
}

/** Whether a parameter's text can set the field, or one item of it. */
function isText(field: DescField): boolean {
  if (field.fieldKind === "map") return false;
  return field.message === undefined || isTextMessage(field.message);
}

function parameter(field: DescField, name: string, isRequired: boolean, types: TypeSchemas): JsonObject {
  const { description, deprecated, ...schema } = fieldSchema(field, "input", types);
  return {
    name,
    in: "query",
    ...(isRequired ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    ...(deprecated === undefined ? {} : { deprecated }),
    ...(field.fieldKind === "list" ? { style: "form", explode: true } : {}),
    schema,
  };
}
