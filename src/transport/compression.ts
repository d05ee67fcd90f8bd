import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";

/** The encodings of messages, for requests and replies of every protocol, the preferred one first. */
export const COMPRESSIONS: Compression[] = [compressionGzip, compressionBrotli];

/** The names of {@link COMPRESSIONS} as a header lists them. */
export const COMPRESSION_NAMES: string = COMPRESSIONS.map(({ name }) => name).join(",");

/** Smaller messages are sent as they are: compressing them costs more than it saves. */
export const COMPRESS_MIN_BYTES = 1024;

/**
 * What a request says its messages are compressed with; `undefined` for nothing.
 * @throws ConnectError UNIMPLEMENTED for what is not served
 */
export function requestCompression(encoding: string | string[] | undefined): Compression | undefined {
  if (encoding === undefined || encoding === "identity") return undefined;
  const found = COMPRESSIONS.find(({ name }) => name === encoding);
  if (found !== undefined) return found;
  throw new ConnectError(
    `unknown compression "${String(encoding)}": supported encodings are ${COMPRESSION_NAMES}`,
    Code.Unimplemented,
  );
}

/** What a message of this size is to be compressed with: the first that the caller accepts, if it is worth it. */
export function replyCompression(
  sizeBytes: number,
  accepted: string | string[] | undefined,
  encoding: string | string[] | undefined,
): Compression | undefined {
  return sizeBytes < COMPRESS_MIN_BYTES ? undefined : acceptedCompression(accepted, encoding);
}

/** What replies may be compressed with: the first that the caller accepts. */
export function acceptedCompression(
  accepted: string | string[] | undefined,
  encoding: string | string[] | undefined,
): Compression | undefined {
  // Who says nothing accepts what it sends (gRPC's compression.md).
  const names = String(accepted || encoding || "").split(",");
  for (const name of names) {
    const found = COMPRESSIONS.find((compression) => compression.name === name.trim());
    if (found !== undefined) return found;
  }
  return undefined;
}
