import { promisify } from "node:util";
import { brotliDecompress, gunzip } from "node:zlib";
import { TransportError } from "../calls/transport-error.ts";
import { bodyOf, type ServerRequest } from "../http/node-http.ts";
import { receiveBody, UNINTERRUPTED } from "../http/receive-body.ts";

/**
 * Reads a whole body and decodes its content-encoding.
 * @throws TransportError BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE for an encoding other than gzip and br, or VALIDATION
 *   for data that does not decompress
 */
export async function readOctets(request: ServerRequest, limits: ReadOctetsLimits): Promise<Uint8Array> {
  const encoding = encodingOf(request);
  const bytes = await readRaw(request, limits);
  // Some clients name an encoding even for an empty body.
  return encoding === "identity" || bytes.byteLength === 0
    ? bytes
    : await decompress(bytes, encoding, limits.bodyBytes);
}

/** Limits of {@link readOctets}. Byte limits apply before and after decompression. */
export interface ReadOctetsLimits {
  readonly bodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/** Refuses a body with any content-encoding, for routes that pass octets on unchanged. */
export function expectNoEncoding(request: ServerRequest): void {
  if (encodingOf(request) !== "identity")
    throw unsupported("this route takes no content-encoding", "identity");
}

/** Refuses a request with an unexpected body. */
export async function expectNoBody(request: ServerRequest, limits: ReadOctetsLimits): Promise<void> {
  const bytes = await readRaw(request, limits);
  if (bytes.byteLength > 0) throw new TransportError("VALIDATION", "this route takes no body");
}

const DECOMPRESS = { gzip: promisify(gunzip), br: promisify(brotliDecompress) };

type Encoding = keyof typeof DECOMPRESS;

function encodingOf(request: ServerRequest): Encoding | "identity" {
  const encoding = (request.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "gzip" || encoding === "br") return encoding;
  // RFC 9110, 8.4.1.3: an alias.
  if (encoding === "x-gzip") return "gzip";
  throw unsupported("send the body without a content-encoding, or as gzip or br", "gzip, br");
}

async function decompress(bytes: Uint8Array, encoding: Encoding, maxBytes: number): Promise<Uint8Array> {
  try {
    return await DECOMPRESS[encoding](bytes, { maxOutputLength: maxBytes });
  } catch (cause) {
    if (isTooLarge(cause)) throw tooLarge(maxBytes);
    throw new TransportError("VALIDATION", `the body is not ${encoding}`, { cause });
  }
}

function isTooLarge(cause: unknown): boolean {
  return cause instanceof Error && "code" in cause && cause.code === "ERR_BUFFER_TOO_LARGE";
}

async function readRaw(
  request: ServerRequest,
  { bodyBytes, bodyTimeoutMs }: ReadOctetsLimits,
): Promise<Uint8Array> {
  const check = (sizeBytes: number) => {
    if (sizeBytes > bodyBytes) throw tooLarge(bodyBytes);
  };
  check(Number(request.headers["content-length"] ?? 0));
  return receiveBody(bodyOf(request), UNINTERRUPTED, { timeoutMs: bodyTimeoutMs, check });
}

function tooLarge(maxBytes: number): TransportError {
  return new TransportError("BODY_TOO_LARGE", `the body is larger than ${maxBytes} bytes`);
}

/** Also lists the codings that the route takes in a header (RFC 9110, 15.5.16). */
function unsupported(message: string, acceptEncoding: string): TransportError {
  const headers = { "accept-encoding": acceptEncoding };
  return new TransportError("UNSUPPORTED_MEDIA_TYPE", message, { headers });
}
