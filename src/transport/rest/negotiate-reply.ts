import { promisify } from "node:util";
import { brotliCompress, gzip, constants as zlib } from "node:zlib";
import { TransportError } from "../calls/transport-error.ts";
import type { RestRoute } from "./rest-routes.ts";

/**
 * Chooses the format of a route's reply by the caller's `accept`. Default: JSON, or lines of it for a stream. Octets
 * have the type that their method sets, regardless of `accept`; see {@link checkOctets}.
 * @throws TransportError NOT_ACCEPTABLE
 */
export function negotiateReply(route: RestRoute, accept: string | undefined): ReplyFormat {
  if (route.givesOctets) return "octets";
  // The value that nearly all callers of unary methods send.
  if (route.spec.kind === "unary" && (accept === undefined || accept === "*/*")) return "json";
  const offers = route.spec.kind === "unary" ? (["json"] as const) : (["ndjson", "events"] as const);
  const weighed = offers
    .map((format) => ({ format, weight: weightOfType(MEDIA_TYPES[format], accept ?? null) ?? 0 }))
    .filter(({ weight }) => weight > 0)
    .sort((a, b) => b.weight - a.weight);
  const [best] = weighed;
  if (best !== undefined) return best.format;
  const types = offers.map((format) => MEDIA_TYPES[format]).join(" or ");
  throw new TransportError("NOT_ACCEPTABLE", `this route replies with ${types}`);
}

/** The format of a reply's messages: one as JSON, several as lines of JSON or as server-sent events, or raw octets. */
export type ReplyFormat = "json" | "ndjson" | "events" | "octets";

/** The media types of the formats with a fixed one. */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  events: "text/event-stream",
} as const;

/**
 * Sends octets to every caller that does not exclude their type explicitly (`;q=0`).
 * @throws TransportError NOT_ACCEPTABLE
 */
export function checkOctets(contentType: string, accept: string | null): void {
  const [type = ""] = contentType.toLowerCase().split(";");
  if (weightOfType(type.trim(), accept) === 0) {
    throw new TransportError("NOT_ACCEPTABLE", `the reply is ${type.trim()}`);
  }
}

/** Returns `undefined` for a type that the header does not mention. */
function weightOfType(type: string, accept: string | null): number | undefined {
  const preferences = parsePreferences(accept ?? "*/*");
  if (preferences.length === 0) return 1;
  return weightFor(preferences, [type, `${type.split("/")[0]}/*`, "*/*"]);
}

/** One choice of a header such as `accept`, with its weight from 0 (never) to 1. */
export interface Preference {
  /** In lower case, without parameters. */
  readonly choice: string;
  readonly weight: number;
}

/**
 * Parses an `accept` or `accept-encoding` header (RFC 9110, 12.4.2), in its order. A malformed weight counts as 1.
 * Media type parameters are ignored: no type here has two forms that differ only in them.
 */
export function parsePreferences(header: string): Preference[] {
  return header
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()))
    .filter(([choice = ""]) => choice !== "")
    .map(([choice = "", ...parameters]) => ({ choice, weight: weightOf(parameters) }));
}

/**
 * @param names the names of one thing, the most specific first
 */
export function weightFor(preferences: readonly Preference[], names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = preferences.find(({ choice }) => choice === name);
    if (found !== undefined) return found.weight;
  }
  return undefined;
}

function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const match = /^q=([01](?:\.\d{0,3})?)$/.exec(parameter);
    if (match !== null) return Math.min(Number(match[1]), 1);
  }
  return 1;
}

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
