import { createHash, randomBytes } from "node:crypto";

const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/** 190 bits. */
const RANDOM_COUNT = 32;
/** Stored characters of the random part, which identify a key to people. */
const SHOWN_COUNT = 4;
const LABEL_OF_NETWORK: Readonly<Record<string, string>> = {
  localnet: "local",
  testnet: "test",
  mainnet: "live",
};
const FORM = /^tss_(?:local|test|live)_[0-9A-Za-z]{32,64}$/;
const ADMIN_FORM = /^tss_admin_[0-9A-Za-z]{32,64}$/;
const SESSION_FORM = /^tss_session_[0-9A-Za-z]{32,64}$/;

/** Generates a random key for a network, such as `tss_local_…`. Throws for an unknown network. */
export function generateApiKey(network: string): string {
  const label = LABEL_OF_NETWORK[network];
  if (label === undefined) throw new Error(`there are no keys for the network ${network}`);
  return `tss_${label}_${randomBase62(RANDOM_COUNT)}`;
}

/** Generates a random admin key, such as `tss_admin_…`. */
export function generateAdminKey(): string {
  return `tss_admin_${randomBase62(RANDOM_COUNT)}`;
}

/** Generates the random token of a session, such as `tss_session_…`. */
export function generateSessionToken(): string {
  return `tss_session_${randomBase62(RANDOM_COUNT)}`;
}

/** True if the text has the form of a project's key. Other texts need no look-up. */
export function isApiKeyForm(text: string): boolean {
  return FORM.test(text);
}

/** True if the text has the form of a named admin key. */
export function isAdminKeyForm(text: string): boolean {
  return ADMIN_FORM.test(text);
}

/** True if the text has the form of a session's token. */
export function isSessionForm(text: string): boolean {
  return SESSION_FORM.test(text);
}

/** Returns the stored hash of a key or token. It has enough entropy for a plain SHA-256 hash. */
export function hashApiKey(key: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(key).digest());
}

/** Returns the first characters of a key, which identify it to people. */
export function apiKeyPrefix(key: string): string {
  return key.slice(0, key.lastIndexOf("_") + 1 + SHOWN_COUNT);
}

function randomBase62(count: number): string {
  // Discards bytes from the last multiple of 62 on, so that every character is equally likely.
  const limit = 256 - (256 % ALPHABET.length);
  let text = "";
  while (text.length < count) {
    for (const byte of randomBytes(count)) {
      if (byte < limit && text.length < count) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
