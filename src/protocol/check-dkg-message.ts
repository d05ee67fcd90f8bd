import type { CurveName } from "./algorithms.ts";
import { type ByteReader, bigIntFromLittleEndian, byteReader, MalformedBytesError } from "./bytes.ts";
import { curveGroup, type GroupPoint } from "./signatures/curve-group.ts";

/**
 * Runs the checks of a user's DKG message that are cheap and need no network key, before the service spends money on
 * it: versions, lengths, the encoding of points, scalars below the curve's order, public shares on the curve, and that
 * the shares add up to the key in the public output. The network verifies the two proofs. This check does not decode
 * the points of the proofs: that would take 4 ms instead of 0.5 ms, and an attacker can send valid points anyway.
 * Throws {@link DkgFormError}.
 */
export function checkDkgMessage(curve: CurveName, parts: DkgParts): void {
  // The cheapest check comes first: points are decoded only if all lengths are right.
  checkLengths(curve, parts, LENGTHS);
  const publicShare = inPart("userDkgMessage", () => readDkgMessage(curve, parts.userDkgMessage));
  inPart("encryptedUserShareAndProof", () => readShareAndProof(curve, parts.encryptedUserShareAndProof));
  inPart("userPublicOutput", () => checkPublicOutput(curve, parts.userPublicOutput, publicShare));
}

/**
 * Runs the same checks of a user's message for the verification of an imported key. Throws {@link DkgFormError}.
 */
export function checkImportMessage(curve: CurveName, parts: DkgParts): void {
  checkLengths(curve, parts, IMPORT_LENGTHS);
  const shares = inPart("userDkgMessage", () => readImportMessage(curve, parts.userDkgMessage));
  inPart("encryptedUserShareAndProof", () => readShareAndProof(curve, parts.encryptedUserShareAndProof));
  inPart("userPublicOutput", () => checkImportOutput(curve, parts.userPublicOutput, shares));
}

/** The three parts of a user's DKG message, named as in the contract. */
export interface DkgParts {
  readonly userDkgMessage: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
  readonly userPublicOutput: Uint8Array;
}

/** Thrown for a malformed part of a DKG message. */
export class DkgFormError extends Error {
  override readonly name = "DkgFormError";
  readonly part: keyof DkgParts;

  constructor(part: keyof DkgParts, message: string, options?: ErrorOptions) {
    super(message, options);
    this.part = part;
  }
}

type PartLengths = readonly (readonly [
  keyof DkgParts,
  { readonly ofSecp: number; readonly ofOthers: number },
])[];

function checkLengths(curve: CurveName, parts: DkgParts, lengths: PartLengths): void {
  for (const [part, { ofSecp, ofOthers }] of lengths) {
    const length = curveGroup(curve).isSecp ? ofSecp : ofOthers;
    const found = parts[part].length;
    if (found !== length) throw new DkgFormError(part, `has ${found} bytes; ${curve} requires ${length}`);
  }
}

const LENGTHS = [
  ["userDkgMessage", { ofSecp: 1381, ofOthers: 1331 }],
  ["encryptedUserShareAndProof", { ofSecp: 1296, ofOthers: 1293 }],
  ["userPublicOutput", { ofSecp: 238, ofOthers: 232 }],
] as const;
const IMPORT_LENGTHS = [
  ["userDkgMessage", { ofSecp: 1431, ofOthers: 1421 }],
  ["encryptedUserShareAndProof", { ofSecp: 1296, ofOthers: 1293 }],
  ["userPublicOutput", { ofSecp: 105, ofOthers: 99 }],
] as const;
/** The repetitions in the Fischlin proof of the share's discrete logarithm. */
const REPETITIONS = 16;
const FORM_BYTES = 256;
const RANDOMNESS_BITS = 1278n;

/** Reads 00 | vec(16 masks | 16 responses | 16 challenges | X_A). Returns X_A, the user's public share. */
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

/**
 * Reads 00 | vec(ciphertext of the masks | their point | z | rho | ciphertext of the share); a ciphertext is two forms.
 */
function readShareAndProof(curve: CurveName, bytes: Uint8Array): void {
  const body = openBody(bytes, 0);
  readEncryptedShare(curve, body);
  body.end();
}

function readEncryptedShare(curve: CurveName, body: ByteReader): void {
  const { readScalar } = curveGroup(curve);
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
  skipPoint(curve, body);
  readScalar(body);
  if (bigIntFromLittleEndian(body.vector(192)) >> RANDOMNESS_BITS !== 0n) {
    throw new MalformedBytesError(`the response for the randomness exceeds ${RANDOMNESS_BITS} bits`);
  }
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
}

/** The public shares X_A and X_B of an imported key. */
interface ImportShares {
  readonly user: GroupPoint;
  readonly network: GroupPoint;
}

/** Reads 00 | vec(mask | response | encrypted X_B's share with its proof | X_A | X_B). */
function readImportMessage(curve: CurveName, bytes: Uint8Array): ImportShares {
  const { readPoint, readScalar, zero } = curveGroup(curve);
  const body = openBody(bytes, 0);
  skipPoint(curve, body);
  readScalar(body);
  readEncryptedShare(curve, body);
  const shares = { user: readPoint(body), network: readPoint(body) };
  body.end();
  if (shares.user.equals(zero) || shares.network.equals(zero))
    throw new MalformedBytesError("a public share is zero");
  return shares;
}

/** Checks 01 | vec(00 | X_A | X | X_B), where X = X_A + X_B is a key. */
function checkImportOutput(curve: CurveName, bytes: Uint8Array, shares: ImportShares): void {
  const { readPoint, zero } = curveGroup(curve);
  const body = openBody(bytes, 1);
  if (body.uint8() !== 0) throw new MalformedBytesError("unknown kind of body");
  const [userShare, publicKey, networkShare] = [readPoint(body), readPoint(body), readPoint(body)];
  body.end();
  if (!userShare.equals(shares.user) || !networkShare.equals(shares.network))
    throw new MalformedBytesError("the public shares are not those of the message");
  if (publicKey.equals(zero) || !userShare.add(networkShare).equals(publicKey))
    throw new MalformedBytesError("the public shares do not add up to the public key");
}

/** Checks 01 | vec(01 | X_A | X | X_B | mu_0 | mu_1 | mu_G | commitment), where X = X_A + X_B. */
function checkPublicOutput(curve: CurveName, bytes: Uint8Array, publicShare: GroupPoint): void {
  const { readPoint } = curveGroup(curve);
  const body = openBody(bytes, 1);
  if (body.uint8() !== 1) throw new MalformedBytesError("unknown kind of body");
  const [userShare, publicKey, networkShare] = [readPoint(body), readPoint(body), readPoint(body)];
  for (let number = 0; number < 4; number++) body.vector(32);
  body.end();
  if (!userShare.equals(publicShare))
    throw new MalformedBytesError("the public share is not that of the DKG message");
  if (!userShare.add(networkShare).equals(publicKey)) {
    throw new MalformedBytesError("the public shares do not add up to the public key");
  }
}

/** Skips a point of a proof. Checks its encoding only. */
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
