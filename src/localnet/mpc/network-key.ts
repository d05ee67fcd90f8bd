import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bigIntFromLittleEndian } from "../../protocol/bytes.ts";
import { formToScalar, scalarToForm } from "../../protocol/class-groups/class-group.ts";
import { combPower, powerForm } from "../../protocol/class-groups/exponentiation.ts";
import { composeForms, type Form, invertForm } from "../../protocol/class-groups/forms.ts";
import { deriveDecryptionExponent } from "../../protocol/class-groups/keypair.ts";
import { fromMaximalOrder } from "../../protocol/class-groups/maximal-order.ts";
import type { Ciphertext } from "../../protocol/parameters/network-key-output.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  curveByNumber,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import { keyCommitment } from "../../protocol/proofs/network-key-parts.ts";
import type { NetworkMpc } from "./engine.ts";
import type { FixedBase, TableSource } from "./fixed-base.ts";

/**
 * Derives the network's key for one curve from a 32-byte seed. The same seed always gives the same key.
 * ED25519 and RISTRETTO have the same encryption key, as on the real network.
 */
export function networkKey(seed: Uint8Array, curveNumber: number, tables: TableSource): CurveNetworkKey {
  const curve = curveByNumber(curveNumber);
  const { group, order } = curve;
  const derive = (label: string, length: number): Uint8Array =>
    hkdf(sha256, seed, undefined, new TextEncoder().encode(`localnet network key/${label}`), length);
  const secretScalar = (label: string): bigint =>
    (bigIntFromLittleEndian(derive(`${curve.constants.name}/${label}`, 48)) % (order - 1n)) + 1n;
  const decryptionExponent = deriveDecryptionExponent(derive(`decryption key/${group.name}`, 32));
  const h = tables.fixedBase(group, group.h);
  const power = ({ table }: FixedBase, exponent: bigint): Form =>
    fromMaximalOrder(group, combPower(group, table, exponent));
  const encryptionKey = power(h, decryptionExponent);
  const ek = tables.fixedBase(group, encryptionKey);

  const encrypt = (scalar: bigint, label: string): Ciphertext => {
    const bytes = derive(`${curve.constants.name}/randomness/${label}`, 94);
    const randomness = BigInt.asUintN(RANDOMNESS_BITS, bigIntFromLittleEndian(bytes));
    const mask = power(ek, randomness);
    return [power(h, randomness), composeForms(group, scalarToForm(group, scalar), mask)];
  };
  const keyShares = [secretScalar("share 0"), secretScalar("share 1")] as const;
  const publicShares = [scaleBase(curve, keyShares[0]), scaleBase(curve, keyShares[1])] as const;
  const encryptedShares = [encrypt(keyShares[0], "share 0"), encrypt(keyShares[1], "share 1")] as const;
  return {
    curve,
    encryptionKey,
    h,
    ek,
    keyShares,
    publicShares,
    encryptedShares,
    commitment: keyCommitment(curve, { encryptionKey, publicShares, encryptedShares }),
    secretScalar,
    encrypt,
    decrypt: ([randomizer, masked]) => {
      const mask = powerForm(group, randomizer, decryptionExponent);
      return formToScalar(group, composeForms(group, masked, invertForm(mask)));
    },
  };
}

/** The network's key for one curve. The parties of the real network share it; here one process holds all of it. */
export interface CurveNetworkKey {
  readonly curve: CurveArithmetic;
  readonly encryptionKey: Form;
  /** Tables of h and of the encryption key. */
  readonly h: FixedBase;
  readonly ek: FixedBase;
  /** The two parts that combine into every dWallet's network share. Secret. */
  readonly keyShares: readonly [bigint, bigint];
  readonly publicShares: readonly [CurvePoint, CurvePoint];
  readonly encryptedShares: readonly [Ciphertext, Ciphertext];
  /** The commitment that binds presigns and dWallets to this key: 32 bytes. */
  readonly commitment: Uint8Array;
  /** A secret scalar in 1..order-1, always the same for the same label. */
  secretScalar(label: string): bigint;
  /** Encrypts under the network's key, with randomness that the label determines. */
  encrypt(scalar: bigint, label: string): Ciphertext;
  /** Decrypts a scalar. Throws InvalidFormError if the ciphertext contains none. */
  decrypt(ciphertext: Ciphertext): bigint;
}

const RANDOMNESS_BITS = 749;

/** Creates a keyring with `first` at index 0. `make` creates the others. */
export function createKeyring(first: NetworkMpc, make: (index: number) => Promise<NetworkMpc>): Keyring {
  const made = new Map<number, Promise<NetworkMpc>>();
  return {
    at(index) {
      if (index === 0) return Promise.resolve(first);
      const known = made.get(index) ?? make(index);
      made.set(index, known);
      known.catch(() => made.delete(index));
      return known;
    },
    async close() {
      for (const mpc of made.values())
        await mpc.then(
          (ready) => ready.close(),
          () => undefined,
        );
    },
  };
}

/** The network's cryptography under each of its encryption keys. */
export interface Keyring {
  /** Returns the cryptography under the n-th key, created on first use. */
  at(index: number): Promise<NetworkMpc>;
  /** Closes the instances created here, but not the first one, which its owner closes. */
  close(): Promise<void>;
}
