import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, byteReader, encodeVector, MalformedBytesError } from "../bytes.ts";
import { decodeForm, FORM_BYTES } from "../class-groups/class-group.ts";
import type { Form } from "../class-groups/forms.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import { ciphertextJson, encryptionSchemeJson } from "./canonical-parameters.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  encodePoint,
  pointJson,
  readPoint,
  scale,
  scaleBase,
} from "./curve.ts";
import type { ShareRandomizers } from "./dkg-transcripts.ts";
import { ELEMENT_BYTES } from "./parameters-ends.ts";
import { transcript } from "./transcript.ts";

/** The public parts of the network key for one curve that a user's messages depend on. */
export interface NetworkKeyParts {
  /** X_0 and X_1. The network's public share of every dWallet is a combination of them. */
  readonly publicShares: readonly [CurvePoint, CurvePoint];
  /** The key for everything that is encrypted to the network. */
  readonly encryptionKey: Form;
  /** The commitment that binds dWallets and presigns to this key: 32 bytes. */
  readonly commitment: Uint8Array;
}

/**
 * Reads the network key from a curve's protocol parameters: points and ciphertexts at the start, the encryption key at
 * the end. Ignores the tables between them. Throws MalformedBytesError, InvalidFormError or RejectedInput.
 */
export function readNetworkKeyParts(curve: CurveArithmetic, parameters: Uint8Array): NetworkKeyParts {
  const reader = byteReader(parameters, "protocol parameters");
  const point = (): CurvePoint => readPoint(curve, reader, "network's public share");
  const publicShares = [point(), point()] as const;
  const form = (): Form => decodeForm(curve.group, reader.vector(FORM_BYTES));
  const ciphertext = (): Ciphertext => [form(), form()];
  const encryptedShares = [ciphertext(), ciphertext()] as const;
  const encryptionKey = readLastForm(curve, parameters);
  const commitment = keyCommitment(curve, { encryptionKey, publicShares, encryptedShares });
  return { publicShares, encryptionKey, commitment };
}

/** Returns the commitment to a network key that dWallets and presigns contain: 32 bytes. */
export function keyCommitment(
  curve: CurveArithmetic,
  key: {
    readonly encryptionKey: Form;
    readonly publicShares: readonly [CurvePoint, CurvePoint];
    readonly encryptedShares: readonly [Ciphertext, Ciphertext];
  },
): Uint8Array {
  const hash = transcript("key share parts commitment");
  hash.appendJson("$\\textsf{TAHE}.\\textsf{pk}$", encryptionSchemeJson(curve, key.encryptionKey));
  hash.appendJson("$X_{\\DistributedParty}^{0}$", pointJson(curve, key.publicShares[0]));
  hash.appendJson("$X_{\\DistributedParty}^{1}$", pointJson(curve, key.publicShares[1]));
  hash.appendJson("$\\textsf{ct}_{\\textsf{key}}^{0}$", ciphertextJson(key.encryptedShares[0]));
  hash.appendJson("$\\textsf{ct}_{\\textsf{key}}^{1}$", ciphertextJson(key.encryptedShares[1]));
  return hash.challenge("commitment", 32);
}

function readLastForm(curve: CurveArithmetic, parameters: Uint8Array): Form {
  if (parameters.length < ELEMENT_BYTES) throw new MalformedBytesError("protocol parameters: too short");
  const reader = byteReader(parameters.subarray(-ELEMENT_BYTES), "protocol parameters");
  const [a, b] = [reader.vector(FORM_BYTES), reader.vector(FORM_BYTES)];
  return decodeForm(curve.group, concatBytes(a.subarray(0, 128), b.subarray(0, 128)));
}

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
function networkPublicShare(
  curve: CurveArithmetic,
  { publicShares }: Pick<NetworkKeyParts, "publicShares">,
  [first, second, constant]: ShareRandomizers,
): CurvePoint {
  const combined = scale(curve, publicShares[0], first).add(scale(curve, publicShares[1], second));
  return combined.add(scaleBase(curve, constant));
}

/** The variant tag of version 2. The body repeats it. */
const VERSION_2 = Uint8Array.of(1);
