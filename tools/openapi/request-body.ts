import type { DescMessage, JsonObject } from "@bufbuild/protobuf";
import type { ComponentSchemas } from "./component-schemas.ts";
import { fieldSchema } from "./field-schema.ts";
import { type GivenPaths, isGiven, pathsBelow } from "./given-paths.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { messageSchema } from "./message-schema.ts";
import { OCTETS_CONTENT, takesOctets } from "./octets.ts";
import { requiredIn } from "./required-fields.ts";

/**
 * Returns the body of a request; undefined if the binding has none. The body may omit the fields of the path. It then
 * has its own schema, named after the operation.
 * @param given dotted paths in proto names
 */
export function requestBody(
  binding: HttpBinding,
  given: GivenPaths,
  operationId: string,
  schemas: ComponentSchemas,
): JsonObject | undefined {
  const { method, body } = binding;
  if (body === "none") return undefined;
  if (takesOctets(binding)) {
    const required = body !== "message" && requiredIn(method.input).has(body);
    return { required, content: OCTETS_CONTENT };
  }
  const name = `${operationId.replace(/^./, (first) => first.toUpperCase())}Body`;
  if (body === "message") {
    return content(needsAny(method.input, given), schemaOf(method.input, given, name, schemas));
  }
  const inside = pathsBelow(body, given);
  if (body.fieldKind === "message" && inside.size > 0) {
    return content(needsAny(body.message, inside), schemaOf(body.message, inside, name, schemas));
  }
  return content(requiredIn(method.input).has(body), fieldSchema(body, "input", schemas));
}

/** Whether a body is required. Without one the message has only the fields of the path. */
function needsAny(message: DescMessage, given: GivenPaths): boolean {
  return [...requiredIn(message)].some((member) => !isGiven(member, given));
}

function schemaOf(
  message: DescMessage,
  given: GivenPaths,
  name: string,
  schemas: ComponentSchemas,
): JsonObject {
  if (given.size === 0) return schemas.ofMessage(message, "input");
  return schemas.add(name, messageSchema(message, "input", schemas, given));
}

function content(required: boolean, schema: JsonObject): JsonObject {
  return { required, content: { "application/json": { schema } } };
}
