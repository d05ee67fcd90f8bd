import { Curve, Hash, SignatureAlgorithm } from "@ika.xyz/sdk";
import { SIGNATURE_VERIFIERS } from "../../support/crypto/signature-verifiers.ts";
import { atNight } from "../../support/environment.ts";

/** Every combination of curve, signature algorithm and hash, by the SDK's names. */
const TRIPLES = [
  [Curve.SECP256K1, SignatureAlgorithm.ECDSASecp256k1, Hash.KECCAK256],
  [Curve.SECP256K1, SignatureAlgorithm.ECDSASecp256k1, Hash.SHA256],
  [Curve.SECP256K1, SignatureAlgorithm.ECDSASecp256k1, Hash.DoubleSHA256],
  [Curve.SECP256K1, SignatureAlgorithm.Taproot, Hash.SHA256],
  [Curve.SECP256R1, SignatureAlgorithm.ECDSASecp256r1, Hash.SHA256],
  [Curve.ED25519, SignatureAlgorithm.EdDSA, Hash.SHA512],
  [Curve.RISTRETTO, SignatureAlgorithm.SchnorrkelSubstrate, Hash.Merlin],
] as const;

/** The combinations of one curve. */
export interface CurveTriples {
  readonly curve: Curve;
  readonly signs: readonly SdkAlgorithm[];
}

export interface SdkAlgorithm {
  readonly algorithm: SignatureAlgorithm;
  readonly hash: Hash;
}

/**
 * The curves that a run signs on through the SDK alone, which takes up to a minute per curve: all of them at night,
 * ED25519 otherwise.
 */
export const SDK_CURVES: readonly CurveTriples[] = atNight(Object.values(Curve), [Curve.ED25519]).map(
  (curve) => ({
    curve,
    signs: TRIPLES.filter(([of]) => of === curve).map(([, algorithm, hash]) => ({ algorithm, hash })),
  }),
);

/** A private key that a user already has. */
export const OWN_SECRET = 0x5a048b64a9930517e91a2ee6b3aa6ea78131a4ad88f20cb3d351f28d6fe653n;

const bigEndian = Uint8Array.from(Buffer.from(OWN_SECRET.toString(16).padStart(64, "0"), "hex"));
const littleEndian = bigEndian.toReversed();
const withLength = Uint8Array.of(bigEndian.length, ...bigEndian);

/** {@link OWN_SECRET} as the SDK imports it: on the secp curves, a byte for its length stands before it. */
export const OWN_SECRETS: Readonly<Record<Curve, Uint8Array>> = {
  [Curve.SECP256K1]: withLength,
  [Curve.SECP256R1]: withLength,
  [Curve.ED25519]: littleEndian,
  [Curve.RISTRETTO]: littleEndian,
};

/** Lets a library that the localnet does not use verify a signature: r, s, v for ECDSA, else R, s. */
export function isValid(claim: SdkAlgorithm & Claim): boolean {
  const { algorithm, hash, publicKey, message, signature } = claim;
  const signatureAlgorithm = algorithm === SignatureAlgorithm.SchnorrkelSubstrate ? "Schnorrkel" : algorithm;
  return SIGNATURE_VERIFIERS[signatureAlgorithm]({ signatureAlgorithm, hash, publicKey, message, signature });
}

interface Claim {
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}
