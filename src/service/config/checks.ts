import { isIP } from "node:net";
import { bytesToHex } from "@noble/hashes/utils.js";
import { publicDevelopmentSecrets } from "../../localnet/seed.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import type { Secret } from "../platform/telemetry/secret.ts";
import type { NetworkConfig } from "./networks.ts";
import type { ConfigReader } from "./reader.ts";
import { type ConfigVariable, NETWORK_SUFFIXES, networkVariants } from "./variables/config-variable.ts";
import type { VariableName } from "./variables.ts";

/** 32 random bytes have about 30 distinct values and practically never fewer than this. Typed text has fewer. */
const LEAST_DIFFERENT_BYTES = 18;
/** The same limit for the characters of a key, even for hex digits. */
const LEAST_DIFFERENT_CHARACTERS = 8;

/** Returns true if other machines can reach a listening address. A name other than localhost counts as reachable. */
export function isPublic(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, "$1").replace(/^::ffff:(?=\d)/i, "");
  if (isIP(bare) === 4) return !bare.startsWith("127.");
  return bare !== "::1" && bare.toLowerCase() !== "localhost";
}

/**
 * Refuses clear text on a reachable address, because headers carry keys, unless the operator confirms that a proxy
 * terminates TLS.
 */
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

/** Refuses public and guessable secrets on testnet and mainnet, and keys that two networks share. */
export function checkSecrets(read: ConfigReader<VariableName>, networks: readonly NetworkConfig[]): void {
  if (networks.some(({ name }) => name === "localnet")) return;
  const network = networks.map(({ name }) => name).join(" and ");
  checkOwnKeys(read);
  for (const [name, secret] of read.secrets) {
    const value = secret.reveal();
    if (/_HEX(?:_[A-Z]+)?$/.test(name) && /^(?:[0-9a-f]{2})+$/i.test(value)) {
      const bytes = hexToBytes(value.toLowerCase());
      if (isDevelopmentSecret(bytes))
        read.secretFault(name, value, `a secret of your own on ${network}, not the localnet's public one`);
      else if (isGuessable(bytes)) read.secretFault(name, value, `random bytes on ${network}`);
    }
    if (name === "ADMIN_API_KEY" && isWeakKey(value))
      read.secretFault(name, value, `a random key of your own on ${network}, not a localnet's`);
  }
}

/** Refuses a key that two networks share, so that a leaked key of one network is useless on the other. */
function checkOwnKeys(read: ConfigReader<VariableName>): void {
  const networkOf = new Map<string, string>();
  for (const [name, secret] of read.secrets) {
    const network = Object.values(NETWORK_SUFFIXES).find((suffix) => name.includes(suffix));
    if (network === undefined || !name.includes("_HEX")) continue;
    const value = secret.reveal().toLowerCase();
    const other = networkOf.get(value);
    networkOf.set(value, network);
    if (other !== undefined && other !== network)
      read.secretFault(name, value, "a secret that no other network has");
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

/**
 * Requires an external database and network for separate api and worker processes, which cannot share embedded ones.
 */
export function checkShared(
  read: ConfigReader<VariableName>,
  {
    processType,
    databaseUrl,
    networks,
  }: {
    readonly processType: string;
    readonly databaseUrl: Secret | undefined;
    readonly networks: readonly NetworkConfig[];
  },
): void {
  if (networks.length > 1 && databaseUrl === undefined) {
    const expected =
      "postgresql://user@host:port/database, with several networks: they would wait for each other in the embedded database";
    read.fault("DATABASE_URL", undefined, expected);
    return;
  }
  if (processType === "all") return;
  const beside = `with PROCESS_TYPE=${processType}`;
  if (databaseUrl === undefined) {
    const expected = `postgresql://user@host:port/database, ${beside}: only one process can use the embedded database`;
    read.fault("DATABASE_URL", undefined, expected);
  }
  if (networks.some(({ address }) => address.name === "localnet" && address.url === undefined)) {
    const expected = `the URL of a localnet, ${beside}: \`tss localnet\` runs a shared one`;
    read.fault("LOCALNET_URL", undefined, expected);
  }
}

/** Returns a line for each set variable that resembles one of the table but is not in it. It contains no values. */
export function unknownVariables(
  environment: NodeJS.ProcessEnv,
  variables: readonly ConfigVariable[],
): string[] {
  const known = new Set(
    variables
      .flatMap(networkVariants)
      .flatMap(({ name, secret }) => (secret ? [name, `${name}_FILE`] : [name])),
  );
  return Object.keys(environment)
    .filter((name) => !known.has(name))
    .sort()
    .flatMap((name) => {
      const similar = mostSimilar(name, known);
      if (similar !== undefined)
        return [`${name} is not a variable of this service; did you mean ${similar}?`];
      const isOwn = OWN_PREFIXES.some((prefix) => name.startsWith(prefix));
      return isOwn ? [`${name} is not a variable of this service and has no effect`] : [];
    });
}

/** The prefixes of this service's variables. An unknown variable with such a prefix is a mistake. */
const OWN_PREFIXES = [
  ...["ADMIN_API_", "BILLING_", "DRAIN_", "GAS_STATION_", "HOT_WALLET_", "LOCALNET_", "OTEL_EXPORTER_OTLP_"],
  ...["PRESIGN_", "RATE_LIMIT_", "SERVICECORE_", "SUI_GRPC_", "TRUSTED_PROX"],
];
/** Shorter names resemble too many others. */
const LEAST_CHARACTERS = 7;

/** Returns the known name that differs only in a few letters. */
function mostSimilar(name: string, known: ReadonlySet<string>): string | undefined {
  if (name.length < LEAST_CHARACTERS) return undefined;
  const most = name.length < 12 ? 1 : 2;
  const near = [...known]
    .filter((other) => Math.abs(other.length - name.length) <= most)
    .map((other) => ({ other, distance: editDistance(name, other) }))
    .filter(({ distance }) => distance <= most);
  return near.sort((a, b) => a.distance - b.distance)[0]?.other;
}

/** Returns the Levenshtein distance: the number of letters to add, remove or change. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, at) => at);
  for (let at = 0; at < left.length; at++) {
    const next = [at + 1];
    for (let column = 0; column < right.length; column++) {
      const changed = row[column]! + (left[at] === right[column] ? 0 : 1);
      next.push(Math.min(changed, row[column + 1]! + 1, next[column]! + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
