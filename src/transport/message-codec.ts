import {
  type DescMessage,
  fromBinary,
  fromJsonString,
  type Message,
  toBinary,
  toJsonString,
} from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { JsonForm } from "./json-form.ts";

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
