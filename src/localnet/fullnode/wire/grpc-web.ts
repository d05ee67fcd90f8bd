import { RpcFailure, Status } from "../execution/failures.ts";

/** The encoding of a gRPC-web body: raw bytes, or base64. */
export type GrpcWebFormat = "binary" | "text";

const TRAILER_FLAG = 0x80;
const COMPRESSED_FLAG = 0x01;
const FRAME_HEADER_BYTES = 5;

/** Returns the format of a content type, or undefined if it is not gRPC-web. */
export function grpcWebFormat(contentType: string | undefined): GrpcWebFormat | undefined {
  const type = contentType?.split(";")[0]?.trim().toLowerCase();
  if (type === "application/grpc-web-text" || type === "application/grpc-web-text+proto") return "text";
  if (type === "application/grpc-web" || type === "application/grpc-web+proto") return "binary";
  return undefined;
}

/** Returns the content type that answers a request of this format. */
export function grpcWebContentType(format: GrpcWebFormat): string {
  return format === "text" ? "application/grpc-web-text+proto" : "application/grpc-web+proto";
}

/** Decodes the message in the body of a unary request. Throws INVALID_ARGUMENT unless there is exactly one. */
export function decodeGrpcWebBody(body: Uint8Array, format: GrpcWebFormat): Uint8Array {
  const octets = format === "text" ? decodeBase64(body) : body;
  if (octets.length < FRAME_HEADER_BYTES) throw malformed("incomplete message frame");
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const flags = view.getUint8(0);
  if ((flags & COMPRESSED_FLAG) !== 0)
    throw new RpcFailure(Status.Unimplemented, "compression is not supported");
  if (flags !== 0) throw malformed("unexpected message frame");
  if (view.getUint32(1) !== octets.length - FRAME_HEADER_BYTES) throw malformed("wrong message frame length");
  return octets.subarray(FRAME_HEADER_BYTES);
}

/** Encodes a reply: the message, if there is one, and the trailers with the status. */
export function encodeGrpcWebBody(
  message: Uint8Array | undefined,
  status: { readonly code: number; readonly message: string },
  format: GrpcWebFormat,
): Buffer {
  const text = status.message === "" ? "" : `grpc-message:${encodeStatusMessage(status.message)}\r\n`;
  const trailer = frame(TRAILER_FLAG, Buffer.from(`grpc-status:${status.code}\r\n${text}`));
  const octets = Buffer.concat(message === undefined ? [trailer] : [frame(0, message), trailer]);
  return format === "text" ? Buffer.from(octets.toString("base64")) : octets;
}

/** Encodes one message of a stream. */
export function encodeGrpcWebMessage(message: Uint8Array, format: GrpcWebFormat): Buffer {
  const octets = frame(0, message);
  return format === "text" ? Buffer.from(octets.toString("base64")) : octets;
}

/** Encodes the text of a status for a header: `%`, and what is not printable ASCII, in percent form. */
export function encodeStatusMessage(message: string): string {
  return Buffer.from(message)
    .toString()
    .replaceAll(/%|[^\x20-\x7e]+/gu, encodeURIComponent);
}

function frame(flags: number, payload: Uint8Array): Buffer {
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt8(flags, 0);
  header.writeUInt32BE(payload.length, 1);
  return Buffer.concat([header, payload]);
}

/** Decodes a text body: one or more concatenated base64 strings, each with its own padding. */
function decodeBase64(body: Uint8Array): Buffer {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString("latin1").trim();
  if (!/^[A-Za-z0-9+/=]*$/.test(text)) throw malformed("body is not base64");
  const parts = text.match(/[^=]+={0,2}/g) ?? [];
  return Buffer.concat(parts.map((part) => Buffer.from(part, "base64")));
}

function malformed(message: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, message);
}
