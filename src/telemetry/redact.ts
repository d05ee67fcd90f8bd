import type { Secret } from "./secret.ts";

/** Takes secrets out of a text. */
export type Redact = (text: string) => string;

/** What looks like a secret wherever it stands: API keys, bearer tokens, the credentials of a URL. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\btss_(local|test|live|admin)_[0-9A-Za-z_-]{8,}/g, "tss_$1_[redacted]"],
  [/\b(Bearer|Basic) +[\w.~+/=-]{8,}/gi, "$1 [redacted]"],
  [/\b(https?:\/\/)[^\s/@"'\\]+@/gi, "$1[redacted]@"],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:@"'\\]*:)[^\s/@"'\\]+@/gi, "$1[redacted]@"],
];
/** A shorter secret would be found in words that are none. */
const LEAST_CHARACTERS = 8;

/**
 * The second line of defence behind the type `Secret`: takes out of a text what looks like a key, and the values of
 * these secrets themselves, also within JSON.
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

/** The ways in which a secret may stand in a text; of a URL, its password too. */
function formsOf(value: string): string[] {
  const password = URL.canParse(value) ? new URL(value).password : "";
  const forms = [value, JSON.stringify(value).slice(1, -1), password, decode(password)];
  // The longest first, so that a part of a secret never leaves the rest of it behind.
  return [...new Set(forms)]
    .filter((form) => form.length >= LEAST_CHARACTERS)
    .sort((a, b) => b.length - a.length);
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
