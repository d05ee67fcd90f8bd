import type { JsonValue } from "@bufbuild/protobuf";
import type { ServerRequest } from "../node-http.ts";
import { readBody } from "../read-body.ts";
import { TransportError } from "../transport-error.ts";

/** Bounds of {@link readJson}. */
export interface ReadJsonLimits {
  readonly bodyBytes: number;
  readonly bodyTimeoutMs: number;
}

/**
 * Reads a JSON body; `undefined` when it is empty.
 * @throws TransportError BODY_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, or VALIDATION for what is no JSON
 */
export async function readJson(
  request: ServerRequest,
  limits: ReadJsonLimits,
): Promise<JsonValue | undefined> {
  checkEncoding(request);
  const bytes = await readBytes(request, limits);
  if (bytes.byteLength === 0) return undefined;
  checkType(request);
  return parseJson(bytes);
}

/** Refuses a request that has a body where none belongs. */
export async function expectNoBody(request: ServerRequest, limits: ReadJsonLimits): Promise<void> {
  const bytes = await readBytes(request, limits);
  if (bytes.byteLength > 0) throw new TransportError("VALIDATION", "this route takes no body");
}

async function readBytes(request: ServerRequest, limits: ReadJsonLimits): Promise<Uint8Array> {
  const announced = Number(request.headers["content-length"] ?? 0);
  if (announced > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of readBody(request, limits.bodyTimeoutMs)) {
    sizeBytes += chunk.byteLength;
    if (sizeBytes > limits.bodyBytes) throw tooLarge(limits.bodyBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, sizeBytes);
}

function tooLarge(maxBytes: number): TransportError {
  return new TransportError("BODY_TOO_LARGE", `the body is larger than ${maxBytes} bytes`);
}

function checkEncoding(request: ServerRequest): void {
  const encoding = request.headers["content-encoding"];
  if (encoding === undefined || encoding === "identity") return;
  throw new TransportError("UNSUPPORTED_MEDIA_TYPE", "send the body without a content-encoding");
}

function checkType(request: ServerRequest): void {
  const type = request.headers["content-type"];
  if (type === undefined || /^application\/json *(?:; *charset="?utf-8"? *)?$/i.test(type)) return;
  throw new TransportError("UNSUPPORTED_MEDIA_TYPE", "send the body as application/json");
}

function parseJson(bytes: Uint8Array): JsonValue {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes)) as JsonValue;
  } catch (cause) {
    // The parser's own message would repeat parts of the body.
    throw new TransportError("VALIDATION", "the body is not JSON", { cause });
  }
}
