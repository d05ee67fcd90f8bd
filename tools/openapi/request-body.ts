import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { ComponentSchemas } from "./component-schemas.ts";
import { fieldSchema } from "./field-schema.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { messageSchema } from "./message-schema.ts";
import { requiredIn } from "./required-fields.ts";

/**
 * The body of a request; `undefined` where the binding has none. What the path gives may be left out of the body, which
 * then has a schema of its own, named after the operation.
 * @param given dotted paths in proto names
 */
export function requestBody(
  { method, body }: HttpBinding,
  given: ReadonlySet<string>,
  operationId: string,
  schemas: ComponentSchemas,
): JsonObject | undefined {
  if (body === "none") return undefined;
  const name = `${operationId.replace(/^./, (first) => first.toUpperCase())}Body`;
  if (body === "message") {
    const required = [...requiredIn(method.input)].some((field) => !given.has(field.name));
    return content(required, schemaOf(method.input, given, name, schemas));
  }
  const inside = new Set(
    [...given]
      .filter((path) => path.startsWith(`${body.name}.`))
      .map((path) => path.slice(body.name.length + 1)),
  );
  const required = inside.size === 0 && requiredIn(method.input).has(body);
  return content(required, fieldBody(body, inside, name, schemas));
}

function fieldBody(
  field: DescField,
  given: ReadonlySet<string>,
  name: string,
  schemas: ComponentSchemas,
): JsonObject {
  if (field.fieldKind === "message" && given.size > 0) return schemaOf(field.message, given, name, schemas);
  return fieldSchema(field, "input", schemas);
}

function schemaOf(
  message: DescMessage,
  given: ReadonlySet<string>,
  name: string,
  schemas: ComponentSchemas,
): JsonObject {
  if (given.size === 0) return schemas.ofMessage(message, "input");
  return schemas.add(name, messageSchema(message, "input", schemas, given));
}

function content(required: boolean, schema: JsonObject): JsonObject {
  return { required, content: { "application/json": { schema } } };
}
