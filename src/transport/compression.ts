import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";

/** The encodings of messages, for requests and replies of every protocol, the preferred one first. */
export const COMPRESSIONS: Compression[] = [compressionGzip, compressionBrotli];

/** Smaller messages are sent as they are: compressing them costs more than it saves. */
export const COMPRESS_MIN_BYTES = 1024;
