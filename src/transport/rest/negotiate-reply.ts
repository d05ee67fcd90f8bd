import { TransportError } from "../transport-error.ts";
import { parsePreferences, weightFor } from "./preference-list.ts";
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
