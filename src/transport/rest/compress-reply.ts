import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import { parsePreferences, weightFor } from "./preference-list.ts";

/** Smaller replies gain nothing. */
const MIN_BYTES = 1024;
/** Of 11: beyond this brotli takes far longer for little. */
const BROTLI_QUALITY = 4;

const toGzip = promisify(gzip);
const toBrotli = promisify(brotliCompress);

/**
 * Compresses a body of more than 1 KiB by the caller's `accept-encoding`, and sets the headers that say so. A strong
 * `etag` becomes a weak one, as the octets are no longer those that it names.
 * @param headers of the reply; `cache-control: no-transform` leaves the body as it is
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

/** Whether a body of this size is large enough to gain anything. */
export function isWorthCompressing(sizeBytes: number): boolean {
  return sizeBytes > MIN_BYTES;
}

/** The best of `br`, `gzip` and `identity` (RFC 9110, 12.5.3), the first of them among equals. */
export function chooseEncoding(acceptEncoding: string | null): "br" | "gzip" | "identity" {
  const preferences = parsePreferences(acceptEncoding ?? "");
  const br = weightFor(preferences, ["br", "*"]) ?? 0;
  const gzipped = weightFor(preferences, ["gzip", "x-gzip", "*"]) ?? 0;
  // Without a word of its own it is as good as nothing better; it is never refused.
  const identity = weightFor(preferences, ["identity"]) ?? 0;
  const best = Math.max(br, gzipped);
  if (best === 0 || identity > best) return "identity";
  return br === best ? "br" : "gzip";
}
