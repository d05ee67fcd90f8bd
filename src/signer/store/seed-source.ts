import { randomBytes } from "node:crypto";
import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import type { Curve } from "../../client/sdk/index.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import type { Secret } from "../../service/platform/telemetry/secret.ts";

/** Makes the seed of a new key. */
export type SeedSource = (key: SeedPath) => Uint8Array;

/** What a derived seed depends on, besides the master seed. */
interface SeedPath {
  readonly curve: Curve;
  readonly name: string;
  readonly userReference?: string | undefined;
}

/** Each key has a random seed, and only the store has it. */
export const randomSeeds: SeedSource = () => new Uint8Array(randomBytes(SEED_BYTES));

/**
 * Derives the seeds from a master seed of 64 hex digits: HKDF-SHA-256 with the {@link SALT}, and as its info the path
 * `<curve>/<name>`, or `<curve>/<name>/<user>` for the key of a user. No curve and no name has a slash, so two keys never
 * have one path.
 */
export function masterSeeds(masterHex: Secret): SeedSource {
  const master = hexToBytes(masterHex.reveal().toLowerCase());
  const salt = new TextEncoder().encode(SALT);
  return ({ curve, name, userReference }) => {
    // Otherwise the key `a/b` and the key `a` of the user `b` would have one seed.
    if (name.includes("/")) throw new Error("the name of a key has a slash");
    const path = userReference === undefined ? `${curve}/${name}` : `${curve}/${name}/${userReference}`;
    return hkdf(sha256, master, salt, new TextEncoder().encode(path), SEED_BYTES);
  };
}

/** The form of a master seed. */
export const MASTER_SEED = /^[0-9a-f]{64}$/i;
const SALT = "threshold-signing-service/signer-master-seed/v1";
const SEED_BYTES = 32;
