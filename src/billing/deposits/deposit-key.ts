import { hkdfSync } from "node:crypto";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { RecentMap } from "../../coordination/recent-map.ts";
import type { Secret } from "../../telemetry/secret.ts";

/**
 * Derives the Ed25519 key that owns a project's deposit address on a network. Its secret (RFC 8032, 32 bytes) is
 * HKDF-SHA256 (RFC 5869) with the master seed (32 bytes) as input key, {@link SALT} as salt and
 * `<network>:<project id>` as info, with the id as a UUID in lower case. With a reference, the salt is
 * {@link REFERENCE_SALT} and the info is `<network>:<project id>:<reference>`. The service derives the key on demand
 * and never stores it. docs/deposits.md has test vectors.
 */
export function deriveDepositKey(
  masterSeed: Secret<Uint8Array>,
  network: string,
  { projectId, reference }: DepositOwner,
): Ed25519Keypair {
  const seed = masterSeed.reveal();
  if (seed.length !== SEED_BYTES) throw new Error(`the master seed must have ${SEED_BYTES} bytes`);
  const own = `${network}:${projectId.toLowerCase()}`;
  const [salt, info] = reference === "" ? [SALT, own] : [REFERENCE_SALT, `${own}:${reference}`];
  return Ed25519Keypair.fromSecretKey(new Uint8Array(hkdfSync("sha256", seed, salt, info, SECRET_BYTES)));
}

/** Domain separation: distinguishes these keys from each other and from anything else derived from the same seed. */
const SALT = "threshold-signing-service/deposit/v1";
const REFERENCE_SALT = "threshold-signing-service/deposit-reference/v1";
const SEED_BYTES = 32;
const SECRET_BYTES = 32;

/** The owner of a deposit address on a network. */
export interface DepositOwner {
  /** A UUID. */
  readonly projectId: string;
  /** The project's own id for a user, in printable ASCII; empty for the address of the project itself. */
  readonly reference: string;
}

const REMEMBERED_COUNT = 10_000;
/** Caches addresses by master seed, network, project and reference, because each derivation takes milliseconds. */
const remembered = new WeakMap<Secret<Uint8Array>, RecentMap<string, string>>();

/** Returns the address of {@link deriveDepositKey}. Caches the most recent addresses. */
export function deriveDepositAddress(
  masterSeed: Secret<Uint8Array>,
  network: string,
  owner: DepositOwner,
): string {
  const known = remembered.get(masterSeed) ?? new RecentMap<string, string>(REMEMBERED_COUNT);
  remembered.set(masterSeed, known);
  const name = `${network}:${owner.projectId}:${owner.reference}`;
  const address = known.get(name) ?? deriveDepositKey(masterSeed, network, owner).toSuiAddress();
  known.set(name, address);
  return address;
}
