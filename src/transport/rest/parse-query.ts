import { wrongField } from "../transport-error.ts";
import { shorten } from "./shorten.ts";

/**
 * Parses a query into names and values, in order. `+` means a space, as browsers write it. Empty parts are skipped.
 * @throws TransportError VALIDATION for escapes that are malformed or not UTF-8
 */
export function parseQuery(query: string): (readonly [name: string, text: string])[] {
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const equals = part.indexOf("=");
      const name = equals < 0 ? part : part.slice(0, equals);
      const text = equals < 0 ? "" : part.slice(equals + 1);
      return [decode(name, name), decode(text, name)] as const;
    });
}

function decode(text: string, name: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    throw wrongField(shorten(name), "the escapes in the query are malformed, or not UTF-8");
  }
}
