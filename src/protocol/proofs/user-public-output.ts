import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, encodeVector } from "../bytes.ts";
import { type CurveArithmetic, type CurvePoint, encodePoint, scale, scaleBase } from "./curve.ts";
import type { ShareRandomizers } from "./dkg-transcripts.ts";
import type { NetworkKeyParts } from "./network-key-parts.ts";

/**
 * Encodes the user's public output of a DKG, version 2: 01 | vec(01 | X_A | X | X_B | mu_0 mu_1 mu_G | commitment), 238
 * bytes on the secp curves and 232 on the others. Everything in it follows from the arguments.
 */
export function encodeUserPublicOutput(
  curve: CurveArithmetic,
  publicShare: CurvePoint,
  randomizers: ShareRandomizers,
  key: Pick<NetworkKeyParts, "publicShares" | "commitment">,
): Uint8Array {
  const network = networkPublicShare(curve, key, randomizers);
  const points = [publicShare, publicShare.add(network), network].map((point) => encodePoint(curve, point));
  const numbers = randomizers.map((randomizer) => encodeVector(bigIntToLittleEndian(randomizer, 32)));
  const body = concatBytes(VERSION_2, ...points, ...numbers, encodeVector(key.commitment));
  return concatBytes(VERSION_2, encodeVector(body));
}

/**
 * Returns X_B, the network's public share of a dWallet: mu_0 X_0 + mu_1 X_1 + mu_G G. Not constant-time, because all
 * values are public.
 */
export function networkPublicShare(
  curve: CurveArithmetic,
  { publicShares }: Pick<NetworkKeyParts, "publicShares">,
  [first, second, constant]: ShareRandomizers,
): CurvePoint {
  const combined = scale(curve, publicShares[0], first).add(scale(curve, publicShares[1], second));
  return combined.add(scaleBase(curve, constant));
}

/** The variant tag of version 2. The body repeats it. */
const VERSION_2 = Uint8Array.of(1);
