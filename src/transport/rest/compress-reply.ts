import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import { parsePreferences, weightFor } from "./preference-list.ts";

/**
 * Compresses a body of more than 1 KiB according to the caller's `accept-encoding`, and sets the headers. A strong
 * `etag` becomes weak, because the bytes are no longer those that it identifies.
 * @param headers of the reply; `cache-control: no-transform` leaves the body unchanged
 */
export async function compressReply(
  body: Uint8Array,
  acceptEncoding: string | null,
  headers: Headers,
): Promise<Uint8Array> {
  if (!isWorthCompressing(body.byteLength) || headers.get("cache-control")?.includes("no-transform"))
    return body;
  headers.append("vary", "accept-encoding");
  const encoding = chooseEncoding(acceptEncoding);
  if (encoding === "identity") return body;
  headers.set("content-encoding", encoding);
  const etag = headers.get("etag");
  if (etag?.startsWith('"')) headers.set("etag", `W/${etag}`);
  return encoding === "br"
    ? await toBrotli(body, { params: { [zlib.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } })
    : await toGzip(body);
}

/** Compression does not pay off for smaller replies. */
const MIN_BYTES = 1024;
/** The maximum is 11. Higher levels are far slower for little gain. */
const BROTLI_QUALITY = 4;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/** Whether compression of a body of this size pays off. */
export function isWorthCompressing(sizeBytes: number): boolean {
  return sizeBytes > MIN_BYTES;
}

/** Returns the best of `br`, `gzip` and `identity` (RFC 9110, 12.5.3). Of equals, the first wins. */
export function chooseEncoding(acceptEncoding: string | null): "br" | "gzip" | "identity" {
  const preferences = parsePreferences(acceptEncoding ?? "");
  const br = weightFor(preferences, ["br", "*"]) ?? 0;
  const gzipped = weightFor(preferences, ["gzip", "x-gzip", "*"]) ?? 0;
  // Without its own weight, identity ranks last but is never refused.
  const identity = weightFor(preferences, ["identity"]) ?? 0;
  const best = Math.max(br, gzipped);
  if (best === 0 || identity > best) return "identity";
  return br === best ? "br" : "gzip";
}
