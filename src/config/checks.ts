import { isIP } from "node:net";
import { bytesToHex } from "@noble/hashes/utils.js";
import { publicDevelopmentSecrets } from "../localnet/seed.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import type { Config } from "./config.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** 32 random bytes have about 30 different ones, and never as few as this; what people type has fewer. */
const LEAST_DIFFERENT_BYTES = 18;
/** Characters of a key likewise, be they hex digits. */
const LEAST_DIFFERENT_CHARACTERS = 8;

/** Whether others can reach an address that is listened on. A name other than localhost counts as reachable. */
export function isPublic(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d)/i, "");
  if (isIP(bare) === 4) return !bare.startsWith("127.");
  return bare !== "::1" && bare.toLowerCase() !== "localhost";
}

/** Keys travel in headers: an address that others can reach needs TLS, or someone who says where TLS ends. */
export function checkBind(
  read: ConfigReader<VariableName>,
  { host, tls }: { readonly host: string; readonly tls: object | undefined },
  isPlaintextAllowed: boolean,
): void {
  if (!isPublic(host) || tls !== undefined || isPlaintextAllowed) return;
  read.fault(
    "HOST",
    host,
    "a loopback address, or TLS_CERT_FILE and TLS_KEY_FILE, or ALLOW_PUBLIC_PLAINTEXT=true behind a proxy that terminates TLS",
  );
}

/** On a network with value, refuses secrets that anyone knows or guesses. */
export function checkSecrets(read: ConfigReader<VariableName>, network: string): void {
  if (network === "localnet") return;
  for (const [name, secret] of read.secrets) {
    const value = secret.reveal();
    if (name.endsWith("_HEX") && /^(?:[0-9a-f]{2})+$/i.test(value)) {
      const bytes = hexToBytes(value.toLowerCase());
      if (isDevelopmentSecret(bytes))
        read.secretFault(name, value, `a secret of your own on ${network}, not the localnet's public one`);
      else if (isGuessable(bytes)) read.secretFault(name, value, `random bytes on ${network}`);
    }
    if (name === "ADMIN_API_KEY" && isWeakKey(value))
      read.secretFault(name, value, `a random key of your own on ${network}, not a localnet's`);
  }
}

function isDevelopmentSecret(bytes: Uint8Array): boolean {
  const hex = bytesToHex(bytes);
  return publicDevelopmentSecrets().some((secret) => bytesToHex(secret) === hex);
}

function isGuessable(bytes: Uint8Array): boolean {
  const isSequence = bytes.every((byte, at) => at === 0 || byte === ((bytes[at - 1] ?? 0) + 1) % 256);
  return isSequence || new Set(bytes).size < Math.min(LEAST_DIFFERENT_BYTES, bytes.length);
}

function isWeakKey(key: string): boolean {
  return key.startsWith("tss_local_") || new Set(key).size < LEAST_DIFFERENT_CHARACTERS;
}

/** An api process and a worker are two, so nothing that they both need can be embedded in one of them. */
export function checkShared(
  read: ConfigReader<VariableName>,
  { processType, databaseUrl, network }: Pick<Config, "processType" | "databaseUrl" | "network">,
): void {
  if (processType === "all") return;
  const beside = `with PROCESS_TYPE=${processType}`;
  if (databaseUrl === undefined) {
    const expected = `postgresql://user@host:port/database, ${beside}: only one process can use the embedded database`;
    read.fault("DATABASE_URL", undefined, expected);
  }
  if (network.name === "localnet" && network.url === undefined) {
    const expected = `the URL of a localnet, ${beside}: \`tss localnet\` runs a shared one`;
    read.fault("LOCALNET_URL", undefined, expected);
  }
}
