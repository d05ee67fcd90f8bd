import type { JsonValue } from "@bufbuild/protobuf";
import { mediaTypeOf } from "../media-type.ts";
import { TransportError } from "../transport-error.ts";

/**
 * Parses a UTF-8 JSON body. Of a repeated key, the last one counts, as in any JavaScript parser.
 * @param contentType of the request; a body without one counts as JSON
 * @throws TransportError UNSUPPORTED_MEDIA_TYPE, or VALIDATION for invalid JSON
 */
export function parseJson(bytes: Uint8Array, contentType: string | undefined): JsonValue {
  if (contentType !== undefined && mediaTypeOf(contentType) !== "application/json") {
    throw new TransportError("UNSUPPORTED_MEDIA_TYPE", "send the body as application/json");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch (cause) {
    // The parser's own message would repeat parts of the body.
    throw new TransportError("VALIDATION", "the body is not JSON", { cause });
  }
}
