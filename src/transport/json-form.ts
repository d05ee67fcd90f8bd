import { isUtf8 } from "node:buffer";
import type { JsonReadOptions, JsonWriteOptions, Registry } from "@bufbuild/protobuf";

/**
 * @param registry the types that a `google.protobuf.Any` may contain. Default: none
 */
export function createJsonForm(registry: Registry | undefined): JsonForm {
  return {
    ignoreUnknownFields: true,
    alwaysEmitImplicit: true,
    textDecoder: { decode: decodeUtf8 },
    ...(registry === undefined ? {} : { registry }),
  };
}

/** JSON options for messages: Connect's, with implicit fields written. */
export type JsonForm = Partial<JsonReadOptions & JsonWriteOptions> & {
  readonly textDecoder: { decode(bytes: Uint8Array): string };
};

/**
 * @throws Error for bytes that are not UTF-8
 */
function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) throw new Error("the message is not UTF-8");
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}
