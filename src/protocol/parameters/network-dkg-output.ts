import { type ByteReader, byteReader } from "../byte-reader.ts";
import { concatBytes, encodeVector } from "../bytes.ts";
import { classGroupOfCurve, decodeForm, encodeForm, FORM_BYTES } from "../class-groups/class-group.ts";
import type { Form } from "../class-groups/forms.ts";
import { curveConstants } from "./curve-constants.ts";

/** An encryption (h^r, f^m * ek^r). */
export type Ciphertext = readonly [Form, Form];

/** One curve's part of the network key: two key shares, encrypted and in public. */
export interface NetworkKeyShares {
  readonly encryptedShares: readonly [Ciphertext, Ciphertext];
  /** The two points, encoded as in the curve's public parameters (33 or 32 bytes each), not checked to be points. */
  readonly publicShares: readonly [Uint8Array, Uint8Array];
}

/** What the network's key generation published: one key part per curve (by chain number), one key per class group. */
export interface NetworkDkgPublicOutput {
  readonly shares: readonly [NetworkKeyShares, NetworkKeyShares, NetworkKeyShares, NetworkKeyShares];
  /** The network's encryption keys by curve; ED25519 and RISTRETTO share theirs. */
  readonly encryptionKeys: readonly [Form, Form, Form, Form];
}

/** Thrown for an output of a version or form that this code cannot read. It may well be a key's output. */
export class UnsupportedOutputError extends Error {
  override readonly name = "UnsupportedOutputError";
}

/**
 * Reads version 2 of the versioned network DKG public output (BCS), as ika-wasm 0.2.1 does.
 * The per-party maps must be empty: networks whose output carries them are read by newer wasm modules only.
 * Throws UnsupportedOutputError for these and for other versions; MalformedBytesError or InvalidFormError for bytes that
 * are no such output.
 */
export function decodeNetworkDkgPublicOutput(bytes: Uint8Array): NetworkDkgPublicOutput {
  const outer = byteReader(bytes, "network DKG public output");
  const tag = outer.uint8();
  if (tag !== VERSION_2) {
    throw new UnsupportedOutputError(`network DKG public output: version ${tag + 1} is not supported`);
  }
  const reader = byteReader(outer.vector(), "network DKG public output");
  outer.end();
  const secp256k1 = readShares(reader, 0);
  const secp256k1Key = readForm(reader, 0);
  readEmptyMap(reader);
  const ristretto = readShares(reader, 3);
  const curve25519Key = readForm(reader, 2);
  readEmptyMap(reader);
  const curve25519 = readShares(reader, 2);
  const secp256r1 = readShares(reader, 1);
  const secp256r1Key = readForm(reader, 1);
  readEmptyMap(reader);
  readEmptyMap(reader);
  for (let part = 0; part < CRT_PARTS; part++) reader.vector(CRT_PART_BYTES);
  reader.end();
  return {
    shares: [secp256k1, secp256r1, curve25519, ristretto],
    encryptionKeys: [secp256k1Key, secp256r1Key, curve25519Key, curve25519Key],
  };
}

/**
 * Writes what {@link decodeNetworkDkgPublicOutput} reads, with empty maps and zeros for the parts that only the
 * network's own parties use.
 */
export function encodeNetworkDkgPublicOutput(output: NetworkDkgPublicOutput): Uint8Array {
  const shares = (curve: 0 | 1 | 2 | 3) => encodeShares(output.shares[curve], curve);
  const key = (curve: 0 | 1 | 2) => encodeVector(encodeForm(output.encryptionKeys[curve]));
  const body = concatBytes(
    ...[shares(0), key(0), EMPTY_MAP],
    ...[shares(3), key(2), EMPTY_MAP],
    ...[shares(2), shares(1), key(1), EMPTY_MAP, EMPTY_MAP],
    ...Array.from({ length: CRT_PARTS }, () => encodeVector(new Uint8Array(CRT_PART_BYTES))),
  );
  return concatBytes(Uint8Array.of(VERSION_2), encodeVector(body));
}

const VERSION_2 = 1;
const EMPTY_MAP = Uint8Array.of(0);
const CRT_PARTS = 6;
const CRT_PART_BYTES = 384;

function readShares(reader: ByteReader, curve: number): NetworkKeyShares {
  const ciphertext = (): Ciphertext => [readForm(reader, curve), readForm(reader, curve)];
  const point = () => (curveConstants(curve).lengthPrefixed ? reader.vector(33) : reader.take(32));
  return { encryptedShares: [ciphertext(), ciphertext()], publicShares: [point(), point()] };
}

function encodeShares({ encryptedShares, publicShares }: NetworkKeyShares, curve: number): Uint8Array {
  const { lengthPrefixed } = curveConstants(curve);
  return concatBytes(
    ...encryptedShares.flat().map((form) => encodeVector(encodeForm(form))),
    ...publicShares.map((point) => (lengthPrefixed ? encodeVector(point) : point)),
  );
}

function readForm(reader: ByteReader, curve: number): Form {
  return decodeForm(classGroupOfCurve(curve), reader.vector(FORM_BYTES));
}

function readEmptyMap(reader: ByteReader): void {
  if (reader.uleb128() !== 0) {
    throw new UnsupportedOutputError("network DKG public output: per-party maps are not supported");
  }
}
