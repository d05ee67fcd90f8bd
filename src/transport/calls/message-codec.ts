import { isUtf8 } from "node:buffer";
import {
  type DescMessage,
  fromBinary,
  fromJsonString,
  type JsonReadOptions,
  type JsonWriteOptions,
  type Message,
  type Registry,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";

/** Encodes and decodes messages. */
export interface MessageCodec {
  /**
   * @throws ConnectError for bytes that do not decode
   */
  parse(desc: DescMessage, bytes: Uint8Array): Message;
  serialize(desc: DescMessage, message: Message): Uint8Array;
}

/** Protobuf's binary form. */
export const BINARY: MessageCodec = {
  parse(desc, bytes) {
    try {
      // Byte fields are views of this array, so it must be a plain one.
      return fromBinary(desc, new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    } catch (cause) {
      throw new ConnectError(
        `parse binary: ${textOf(cause)}`,
        Code.InvalidArgument,
        undefined,
        undefined,
        cause,
      );
    }
  },
  serialize: toBinary,
};

/** Protobuf's JSON form. */
export function createJsonCodec(form: JsonForm): MessageCodec {
  return {
    parse(desc, bytes) {
      try {
        return fromJsonString(desc, form.textDecoder.decode(bytes), form);
      } catch (cause) {
        throw new ConnectError(textOf(cause), Code.InvalidArgument, undefined, undefined, cause);
      }
    },
    serialize: (desc, message) => Buffer.from(toJsonString(desc, message, form)),
  };
}

function textOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

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

/**
 * Returns the type of a `content-type` in lower case, without its parameters. Returns undefined for a charset other than
 * UTF-8; other parameters have no meaning for the types that this transport reads, and are ignored (RFC 9110, 8.3.1).
 */
export function mediaTypeOf(contentType: string): string | undefined {
  const end = contentType.indexOf(";");
  if (end < 0) return contentType.trim().toLowerCase();
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !UTF8.test(charset)) return undefined;
  return contentType.slice(0, end).trim().toLowerCase();
}

const CHARSET = /;[ \t]*charset="?([^";, \t]*)/i;
const UTF8 = /^utf-?8$/i;
