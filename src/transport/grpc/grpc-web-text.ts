import { Code, ConnectError } from "@connectrpc/connect";

/**
 * Returns the binary type that a type of gRPC-web's base64 form stands for, or undefined for any other type. Browsers'
 * clients use that form to read a stream with XMLHttpRequest (gRPC's PROTOCOL-WEB.md).
 */
export function binaryTypeOf(contentType: string | undefined): string | undefined {
  const match = /^application\/grpc-web-text(\+.*)?$/i.exec(contentType ?? "");
  return match === null ? undefined : `application/grpc-web${match[1] ?? ""}`;
}

/** Returns the type of gRPC-web's base64 form that corresponds to a binary type. */
export function textTypeOf(contentType: string): string {
  return contentType.replace(/^application\/grpc-web(?=\+|$)/, "application/grpc-web-text");
}

/** Encodes a part of a reply. Parts may follow each other, because each has its own padding. */
export function encodeText(part: Uint8Array): Buffer {
  return Buffer.from(Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString("base64"), "latin1");
}

/**
 * Decodes a request's body, which may consist of several base64 texts with their own padding.
 * @throws ConnectError INVALID_ARGUMENT for a body that is not base64
 */
export async function* decodeText(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let text = "";
  for await (const chunk of chunks) {
    text += Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString("latin1");
    const whole = text.length - (text.length % GROUP_CHARS);
    if (whole > 0) yield decodeGroups(text.slice(0, whole));
    text = text.slice(whole);
  }
  if (text !== "") throw notBase64();
}

/** Four characters of base64 are up to three bytes. */
const GROUP_CHARS = 4;
const GROUPS = /^(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)*$/;

function decodeGroups(text: string): Buffer {
  if (!GROUPS.test(text)) throw notBase64();
  const parts = text.match(/[^=]+={0,2}/g) ?? [];
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}

function notBase64(): ConnectError {
  return new ConnectError("the body is not base64", Code.InvalidArgument);
}
