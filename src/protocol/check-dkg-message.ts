import type { CurveName } from "./algorithms.ts";
import { type ByteReader, byteReader } from "./byte-reader.ts";
import { bigIntFromLittleEndian, MalformedBytesError } from "./bytes.ts";
import { curveGroup, type GroupPoint } from "./curve-group.ts";

/** What a user sends for a DKG, by the names of the contract's fields. */
export interface DkgParts {
  readonly userDkgMessage: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
  readonly userPublicOutput: Uint8Array;
}

/** A fault in one of the parts. */
export class DkgFormError extends Error {
  override readonly name = "DkgFormError";
  readonly part: keyof DkgParts;

  constructor(part: keyof DkgParts, message: string, options?: ErrorOptions) {
    super(message, options);
    this.part = part;
  }
}

/**
 * Checks all of a user's DKG message that can be checked cheaply and without the network key, before money is spent on
 * it: versions, lengths, the encoding of points, scalars below the curve's order, the public shares on the curve, and
 * that they add up to the public output's key. The two proofs are the network's to check. Their points are not decoded
 * here: that would cost 4 ms instead of 0.5 ms, and whoever sends junk can send points as well.
 * Throws {@link DkgFormError}.
 */
export function checkDkgMessage(curve: CurveName, parts: DkgParts): void {
  // What costs nothing goes first: the points are decoded for bytes of the right lengths alone.
  for (const [part, { ofSecp, ofOthers }] of LENGTHS) {
    const length = curveGroup(curve).isSecp ? ofSecp : ofOthers;
    const found = parts[part].length;
    if (found !== length) throw new DkgFormError(part, `has ${found} bytes; on ${curve} it has ${length}`);
  }
  const publicShare = inPart("userDkgMessage", () => readDkgMessage(curve, parts.userDkgMessage));
  inPart("encryptedUserShareAndProof", () => readShareAndProof(curve, parts.encryptedUserShareAndProof));
  inPart("userPublicOutput", () => checkPublicOutput(curve, parts.userPublicOutput, publicShare));
}

const LENGTHS = [
  ["userDkgMessage", { ofSecp: 1381, ofOthers: 1331 }],
  ["encryptedUserShareAndProof", { ofSecp: 1296, ofOthers: 1293 }],
  ["userPublicOutput", { ofSecp: 238, ofOthers: 232 }],
] as const;
/** How often the proof of the share's logarithm repeats its statement. */
const REPETITIONS = 16;
const FORM_BYTES = 256;
const RANDOMNESS_BITS = 1278n;

/** 00 | vec(16 masks | 16 responses | 16 challenges | X_A). Returns X_A, the user's public share. */
function readDkgMessage(curve: CurveName, bytes: Uint8Array): GroupPoint {
  const { readPoint, readScalar, zero } = curveGroup(curve);
  const body = openBody(bytes, 0);
  for (let at = 0; at < REPETITIONS; at++) skipPoint(curve, body);
  for (let at = 0; at < REPETITIONS; at++) readScalar(body);
  for (let at = 0; at < REPETITIONS; at++) body.vector(16);
  const publicShare = readPoint(body);
  body.end();
  if (publicShare.equals(zero)) throw new MalformedBytesError("the user's public share is zero");
  return publicShare;
}

/** 00 | vec(ciphertext of the masks | their point | z | rho | ciphertext of the share); a ciphertext is two forms. */
function readShareAndProof(curve: CurveName, bytes: Uint8Array): void {
  const { readScalar } = curveGroup(curve);
  const body = openBody(bytes, 0);
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
  skipPoint(curve, body);
  readScalar(body);
  if (bigIntFromLittleEndian(body.vector(192)) >> RANDOMNESS_BITS !== 0n) {
    throw new MalformedBytesError(`the answer for the randomness exceeds ${RANDOMNESS_BITS} bits`);
  }
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
  body.end();
}

/** 01 | vec(01 | X_A | X | X_B | mu_0 | mu_1 | mu_G | commitment), where X = X_A + X_B. */
function checkPublicOutput(curve: CurveName, bytes: Uint8Array, publicShare: GroupPoint): void {
  const { readPoint } = curveGroup(curve);
  const body = openBody(bytes, 1);
  if (body.uint8() !== 1) throw new MalformedBytesError("unknown kind of body");
  const [userShare, publicKey, networkShare] = [readPoint(body), readPoint(body), readPoint(body)];
  for (let number = 0; number < 4; number++) body.vector(32);
  body.end();
  if (!userShare.equals(publicShare)) throw new MalformedBytesError("it is of another public share");
  if (!userShare.add(networkShare).equals(publicKey)) {
    throw new MalformedBytesError("the public shares do not add up to the public key");
  }
}

/** Passes over a point of a proof, which must be encoded as one. */
function skipPoint(curve: CurveName, body: ByteReader): void {
  if (!curveGroup(curve).isSecp) body.take(32);
  else if (![2, 3].includes(body.vector(33)[0]!)) throw new MalformedBytesError(`not a point of ${curve}`);
}

/** Opens a versioned value: the tag, then a vector that holds the body. */
function openBody(bytes: Uint8Array, tag: number): ByteReader {
  const outer = byteReader(bytes, "the value");
  if (outer.uint8() !== tag) throw new MalformedBytesError("unknown version");
  const body = outer.vector();
  outer.end();
  return byteReader(body, "the body");
}

function inPart<T>(part: keyof DkgParts, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (!(cause instanceof MalformedBytesError)) throw cause;
    throw new DkgFormError(part, cause.message, { cause });
  }
}
