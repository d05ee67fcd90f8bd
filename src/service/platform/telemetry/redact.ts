import type { Secret } from "./secret.ts";

/**
 * Creates the second line of defence after the type `Secret`: a function that removes everything that looks like a key,
 * and the values of these secrets, even inside JSON, URLs and base64.
 */
export function createRedact(secrets: readonly Secret[] = []): Redact {
  const values = secrets.flatMap((secret) => formsOf(secret.reveal()));
  const own = values.length === 0 ? undefined : new RegExp(values.map(literally).join("|"), "gi");
  return (text) => {
    let redacted = own === undefined ? text : text.replace(own, "[redacted]");
    for (const [pattern, replacement] of PATTERNS) redacted = redacted.replace(pattern, replacement);
    return redacted;
  };
}

/** Removes secrets from a text. */
export type Redact = (text: string) => string;

/** The patterns of secrets: keys, bearer tokens, JSON Web Tokens, the credentials of a URL. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\btss_(local|test|live|admin|session)_[0-9A-Za-z_-]{8,}/g, "tss_$1_[redacted]"],
  [/\bsuiprivkey1[0-9a-z]{8,}/g, "suiprivkey1[redacted]"],
  [/(-----BEGIN [A-Z ]*PRIVATE KEY-----)(?:[\w+/=\s]|\\[nr])*/g, "$1[redacted]"],
  [/\b(Bearer|Basic)(?: |%20)+[\w.~+/=%-]{8,}/gi, "$1 [redacted]"],
  [/\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*/g, "[redacted]"],
  [/\b((?:https?|grpcs?):\/\/)[^\s/"'\\]+@/gi, "$1[redacted]@"],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@"'\\]*:)[^\s/"'\\]+@/gi, "$1[redacted]@"],
  [/([?&](?:api[-_]?key|access[-_]?token|token|key|secret|password)=)[^\s&#"'\\]{8,}/gi, "$1[redacted]"],
];
/** Shorter secrets are not searched for, because they match ordinary words. */
const LEAST_CHARACTERS = 8;
/** A shorter segment of a path is more likely a word than a key. */
const LEAST_KEY_CHARACTERS = 16;

/** The encodings of a secret that may occur in a text. */
function formsOf(secret: string): string[] {
  const forms = [secret, ...partsOf(secret)].flatMap((value) => [
    ...[
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      ...base64Of(Buffer.from(value)),
    ],
    ...(HEX.test(value) ? base64Of(Buffer.from(value, "hex")) : []),
  ]);
  // The longest forms come first, so that the replacement of a part never leaves the rest of a secret.
  return [...new Set(forms)]
    .filter((form) => form.length >= LEAST_CHARACTERS)
    .sort((a, b) => b.length - a.length);
}

/**
 * The parts of a secret that are secrets themselves: the credentials of a URL, decoded and as written, segments of its
 * path that may be keys, the values of its query, and the values of headers.
 */
function partsOf(secret: string): string[] {
  const credentials = URL.canParse(secret) ? credentialsIn(new URL(secret)) : [];
  const [, written = ""] = /^[a-z+]+:\/\/[^/:@]*:([^/]*)@/.exec(secret) ?? [];
  const headers = HEADERS.test(secret)
    ? secret.split(",").map((header) => header.slice(header.indexOf("=") + 1))
    : [];
  return [...credentials, written, ...headers].flatMap((part) => [part, decode(part)]);
}

function credentialsIn({ password, protocol, pathname, searchParams }: URL): string[] {
  if (!/^(?:https?|grpcs?):$/.test(protocol)) return [password];
  const segments = pathname.split("/").filter((segment) => segment.length >= LEAST_KEY_CHARACTERS);
  return [password, ...segments, ...searchParams.values()];
}

const HEX = /^(?:[0-9a-f]{2})+$/i;
const HEADERS = /^[\w-]+=[^,]*(?:,[\w-]+=[^,]*)*$/;

/** Base64 without padding, because a text may omit it. */
function base64Of(bytes: Buffer): string[] {
  return [bytes.toString("base64").replace(/=+$/, ""), bytes.toString("base64url")];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
