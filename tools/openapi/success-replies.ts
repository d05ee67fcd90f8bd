import type { JsonObject } from "@bufbuild/protobuf";
import { FeatureSet_FieldPresence } from "@bufbuild/protobuf/wkt";
import { fieldSchema, type TypeSchemas } from "./field-schema.ts";
import type { HttpBinding } from "./http-bindings.ts";
import { givesOctets, octetReplies } from "./octets.ts";
import { headerRefs } from "./reply-headers.ts";
import { streamReplies } from "./streams.ts";

/** Returns the replies of a successful call, by status. */
export function successReplies(binding: HttpBinding, types: TypeSchemas): JsonObject {
  if (givesOctets(binding)) return octetReplies(binding);
  const schema = replySchema(binding, types);
  if (binding.method.methodKind === "server_streaming") return streamReplies(schema);
  return {
    200: {
      description: "OK",
      headers: headerRefs("x-request-id"),
      content: { "application/json": { schema } },
    },
  };
}

/** The schema of the method's reply, or of each message of its stream. */
function replySchema({ method, replyField }: HttpBinding, types: TypeSchemas): JsonObject {
  if (replyField === undefined) return types.ofMessage(method.output, "output");
  const schema = fieldSchema(replyField, "output", types);
  // An unset part has no JSON, but a body needs some.
  const isAlways = replyField.presence === FeatureSet_FieldPresence.IMPLICIT;
  return isAlways ? schema : { anyOf: [schema, { type: "null" }] };
}
