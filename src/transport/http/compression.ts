import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";

/** The message encodings for requests and replies of every protocol, in order of preference. */
export const COMPRESSIONS: Compression[] = [compressionGzip, compressionBrotli];

/** The names of {@link COMPRESSIONS} as a header value. */
export const COMPRESSION_NAMES: string = COMPRESSIONS.map(({ name }) => name).join(",");

/** Smaller messages are sent uncompressed: compression costs more than it saves. */
export const COMPRESS_MIN_BYTES = 1024;

/**
 * Returns the compression of a request's messages, or `undefined` for none. If it is unknown, the reply's header
 * `acceptHeader` names the known ones.
 * @throws ConnectError UNIMPLEMENTED for an unsupported encoding
 */
export function requestCompression(
  encoding: string | string[] | undefined,
  acceptHeader: string,
  reply: { readonly responseHeader: Headers },
): Compression | undefined {
  if (encoding === undefined || encoding === "identity") return undefined;
  const found = COMPRESSIONS.find(({ name }) => name === encoding);
  if (found !== undefined) return found;
  reply.responseHeader.set(acceptHeader, COMPRESSION_NAMES);
  throw new ConnectError(
    `unknown compression "${String(encoding)}": supported encodings are ${COMPRESSION_NAMES}`,
    Code.Unimplemented,
  );
}

/** Returns the compression for a message of this size: the first that the caller accepts, if it pays off. */
export function replyCompression(
  sizeBytes: number,
  accepted: string | string[] | undefined,
  encoding: string | string[] | undefined,
): Compression | undefined {
  return sizeBytes < COMPRESS_MIN_BYTES ? undefined : acceptedCompression(accepted, encoding);
}

/** Returns the compression for replies: the first that the caller accepts. */
export function acceptedCompression(
  accepted: string | string[] | undefined,
  encoding: string | string[] | undefined,
): Compression | undefined {
  // A caller without that header accepts the encoding that it sends (gRPC's compression.md).
  const names = String(accepted || encoding || "").split(",");
  for (const name of names) {
    const found = COMPRESSIONS.find((compression) => compression.name === name.trim());
    if (found !== undefined) return found;
  }
  return undefined;
}
