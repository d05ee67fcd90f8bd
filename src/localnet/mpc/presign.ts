import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { encodeVector, equalBytes } from "../../protocol/bytes.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import { encodePoint, pointBytes, scaleBase } from "../../protocol/proofs/curve.ts";
import { encodeCiphertext } from "../../protocol/proofs/message-parts.ts";
import {
  type PresignFamily,
  type PublicPresign,
  readDwalletPresign,
  readPresign,
} from "../../protocol/proofs/presign.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { DWalletShares } from "./dwallet-shares.ts";
import type { CurveNetworkKey } from "./network-key.ts";

/** A decoded presign that this network made. */
export interface Presign extends Pick<PublicPresign, "sessionId" | "ciphertexts" | "noncePoints"> {
  readonly secrets: PresignSecrets;
}

/** The network's secrets of a presign: the nonce shares, and the mask for ECDSA. */
export interface PresignSecrets {
  readonly nonceShares: readonly [bigint, bigint];
  readonly mask: bigint;
}

/**
 * Makes the versioned presign of a session. Its secrets are derived from the network's seed and the session id alone,
 * so the network has no state to lose at a restart. The contracts ensure that a presign is used only once.
 */
export function makePresign(key: CurveNetworkKey, family: PresignFamily, sessionId: Uint8Array): Uint8Array {
  rejectUnless(sessionId.length === 32, "session id is not 32 bytes");
  const { curve, keyShares } = key;
  const { nonceShares, mask } = presignSecrets(key, family, sessionId);
  const encrypted = (scalar: bigint, index: number): Uint8Array =>
    encodeCiphertext(
      key.encrypt(floorMod(scalar, curve.order), `presign/${family}/${bytesToHex(sessionId)}/${index}`),
    );
  const plaintexts =
    family === "ecdsa"
      ? [mask, mask * keyShares[0], mask * keyShares[1], mask * nonceShares[0], mask * nonceShares[1]]
      : nonceShares;
  const body = concatBytes(
    family === "ecdsa" ? ECDSA_TAG : new Uint8Array(),
    encodeVector(sessionId),
    ...plaintexts.map(encrypted),
    ...nonceShares.map((share) => encodePoint(curve, scaleBase(curve, share))),
    encodeVector(key.commitment),
  );
  return concatBytes(VERSION_2, encodeVector(body));
}

/**
 * Makes the versioned ECDSA presign of an imported key. It encrypts the dWallet's own network share and contains its
 * public key, so that no other dWallet can use it.
 */
export function makeDwalletPresign(
  key: CurveNetworkKey,
  dwallet: DWalletShares,
  sessionId: Uint8Array,
): Uint8Array {
  rejectUnless(sessionId.length === 32, "session id is not 32 bytes");
  rejectUnless(dwallet.isImported, "only an imported key has presigns of its own");
  const { curve } = key;
  const { nonceShares, mask } = presignSecrets(key, DWALLET_ECDSA, sessionId);
  const plaintexts = [mask, mask * dwallet.networkShare, mask * nonceShares[0], mask * nonceShares[1]];
  const label = `presign/${DWALLET_ECDSA}/${bytesToHex(pointBytes(dwallet.publicKey))}/${bytesToHex(sessionId)}`;
  const body = concatBytes(
    DWALLET_ECDSA_TAG,
    encodeVector(sessionId),
    ...plaintexts.map((scalar, index) =>
      encodeCiphertext(key.encrypt(floorMod(scalar, curve.order), `${label}/${index}`)),
    ),
    ...nonceShares.map((share) => encodePoint(curve, scaleBase(curve, share))),
    encodePoint(curve, dwallet.publicKey),
  );
  return concatBytes(VERSION_2, encodeVector(body));
}

/**
 * Decodes a versioned presign and checks that this network made it, and that it serves the dWallet. Throws
 * RejectedInput otherwise.
 */
export function openPresign(
  key: CurveNetworkKey,
  family: PresignFamily,
  dwallet: DWalletShares,
  bytes: Uint8Array,
): Presign {
  if (family === "ecdsa" && dwallet.isImported) {
    const presign = readDwalletPresign(key.curve, bytes);
    rejectUnless(presign.publicKey.equals(dwallet.publicKey), "presign is of another dWallet");
    return withSecrets(key, DWALLET_ECDSA, presign);
  }
  const presign = readPresign(key.curve, family, bytes);
  rejectUnless(equalBytes(presign.commitment, key.commitment), "presign is bound to another network key");
  return withSecrets(key, family, presign);
}

function withSecrets(
  key: CurveNetworkKey,
  kind: PresignKind,
  presign: Pick<PublicPresign, "sessionId" | "ciphertexts" | "noncePoints">,
): Presign {
  const { sessionId, noncePoints } = presign;
  const secrets = presignSecrets(key, kind, sessionId);
  const own = secrets.nonceShares.every((share, index) =>
    scaleBase(key.curve, share).equals(noncePoints[index]!),
  );
  rejectUnless(own, "presign was not made by this network");
  return { ...presign, secrets };
}

const VERSION_2 = Uint8Array.of(1);
const ECDSA_TAG = Uint8Array.of(1);
const DWALLET_ECDSA_TAG = Uint8Array.of(0);
/** Secrets of presigns for one dWallet derive from their own names. */
const DWALLET_ECDSA = "dwallet-ecdsa";
type PresignKind = PresignFamily | typeof DWALLET_ECDSA;

function presignSecrets(key: CurveNetworkKey, kind: PresignKind, sessionId: Uint8Array): PresignSecrets {
  const scalar = (name: string) => key.secretScalar(`presign/${kind}/${bytesToHex(sessionId)}/${name}`);
  return { nonceShares: [scalar("nonce 0"), scalar("nonce 1")], mask: scalar("mask") };
}
