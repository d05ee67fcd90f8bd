import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { isReflectList } from "@bufbuild/protobuf/reflect";

/** Converts one rule to keywords, or to a sentence; undefined if it can do neither. */
export type KeywordsOfRule = (name: string, value: unknown) => JsonObject | string | undefined;

/** Returns a rule's value, which may be single or a list, as a list. */
export function listOf(value: unknown): readonly unknown[] {
  return isReflectList(value) ? [...value] : [value];
}

const STRING_FORMATS: Readonly<Record<string, JsonObject>> = {
  email: { format: "email" },
  hostname: { format: "hostname" },
  ip: { anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
  ipv4: { format: "ipv4" },
  ipv6: { format: "ipv6" },
  uri: { format: "uri" },
  uri_ref: { format: "uri-reference" },
  uuid: { format: "uuid" },
  tuuid: { pattern: "^[0-9a-fA-F]{32}$" },
  ulid: { pattern: "^[0-7][0-9A-HJKMNP-TV-Za-hjkmnp-tv-z]{25}$" },
};

/** Rules on strings. Both protovalidate and JSON Schema count code points. */
export const keywordsOfString: KeywordsOfRule = (name, value) => {
  const format = STRING_FORMATS[name];
  if (format !== undefined) return value === true ? format : {};
  switch (name) {
    case "const":
      return { const: String(value) };
    case "len":
      return { minLength: Number(value), maxLength: Number(value) };
    case "min_len":
      return { minLength: Number(value) };
    case "max_len":
      return { maxLength: Number(value) };
    case "pattern":
      return patternOf(String(value));
    case "prefix":
      return { pattern: `^${escaped(value)}` };
    case "suffix":
      return { pattern: `${escaped(value)}$` };
    case "contains":
      return { pattern: escaped(value) };
    case "not_contains":
      return { not: { pattern: escaped(value) } };
    case "in":
      return { enum: listOf(value).map(String) };
    case "not_in":
      return { not: { enum: listOf(value).map(String) } };
    case "example":
      return { examples: listOf(value).map(String) };
    default:
      return undefined;
  }
};

/** Rules on bytes, whose length is that of their base64, with or without padding. */
export const keywordsOfBytes: KeywordsOfRule = (name, value) => {
  const unpadded = Math.ceil((Number(value) * 4) / 3);
  const padded = Math.ceil(Number(value) / 3) * 4;
  switch (name) {
    case "len":
      return { minLength: unpadded, maxLength: padded };
    case "min_len":
      return { minLength: unpadded };
    case "max_len":
      return { maxLength: padded };
    default:
      return undefined;
  }
};

/** Rules on lists and maps. */
export const keywordsOfItems: KeywordsOfRule = (name, value) => {
  const keyword = ITEM_KEYWORDS[name];
  if (keyword === undefined) return undefined;
  const json: JsonValue = typeof value === "boolean" ? value : Number(value);
  return { [keyword]: json };
};

const ITEM_KEYWORDS: Readonly<Record<string, string>> = {
  min_items: "minItems",
  max_items: "maxItems",
  unique: "uniqueItems",
  min_pairs: "minProperties",
  max_pairs: "maxProperties",
};

/** Patterns are RE2's. A pattern that ECMAScript reads differently, or not at all, becomes a sentence. */
function patternOf(text: string): JsonObject | string {
  try {
    new RegExp(text, "u");
    return { pattern: text };
  } catch {
    return `Must match the RE2 expression \`${text}\`.`;
  }
}

function escaped(value: unknown): string {
  return String(value).replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
