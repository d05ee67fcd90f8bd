import { concatBytes } from "@noble/hashes/utils.js";
import {
  type ByteReader,
  byteReader,
  encodeUleb128,
  encodeVector,
  equalBytes,
  MalformedBytesError,
} from "../bytes.ts";
import { classGroupOfCurve, decodeForm, encodeForm, FORM_BYTES } from "../class-groups/class-group.ts";
import type { Form } from "../class-groups/forms.ts";
import { curveConstants } from "./curve-constants.ts";

/** The part of a network key's output that clients use: key shares and an encryption key per curve. */
interface NetworkKeyOutput {
  readonly shares: readonly [NetworkKeyShares, NetworkKeyShares, NetworkKeyShares, NetworkKeyShares];
  /** The network's encryption keys by chain number of the curve; ED25519 and RISTRETTO have the same key. */
  readonly encryptionKeys: readonly [Form, Form, Form, Form];
}

/** An encryption (h^r, f^m * ek^r). */
export type Ciphertext = readonly [Form, Form];

/** One curve's part of the network key: two key shares, each as a ciphertext and as a public point. */
export interface NetworkKeyShares {
  readonly encryptedShares: readonly [Ciphertext, Ciphertext];
  /** Both points as in the curve's public parameters, 33 or 32 bytes each. The decoder does not check them. */
  readonly publicShares: readonly [Uint8Array, Uint8Array];
}

/** Thrown for an output with a version that this code cannot read. The output may be valid. */
export class UnsupportedOutputError extends Error {
  override readonly name = "UnsupportedOutputError";
  /** The output's version, from 1 on. */
  readonly version: number;

  constructor(version: number) {
    super(
      `the network key's output has version ${version}; supported are versions ${OLDEST_VERSION} to ${NEWEST_VERSION}`,
    );
    this.version = version;
  }
}

const OLDEST_VERSION = 2;
const NEWEST_VERSION = 4;
/** The maximum number of parties, more than ten times the number of today's validators. Party ids have 16 bits. */
const MAX_PARTY_COUNT = 2_048;

/**
 * Reads versions 2, 3 and 4 of the versioned output (BCS) of a network key's DKG or of one of its reconfigurations. All
 * versions begin with the shares and keys of the four curves, with a map from party to verification key after some of
 * them. The reader skips the maps and the rest, which differs between versions and serves the network's own parties.
 *
 * Throws UnsupportedOutputError for other versions, and MalformedBytesError or InvalidFormError for malformed bytes.
 */
export function decodeNetworkKeyOutput(bytes: Uint8Array): NetworkKeyOutput {
  const outer = byteReader(bytes, "network key output");
  const version = outer.uint8() + 1;
  if (version < OLDEST_VERSION || version > NEWEST_VERSION) throw new UnsupportedOutputError(version);
  const reader = byteReader(outer.vector(), "network key output");
  outer.end();
  const secp256k1 = readShares(reader, 0);
  const secp256k1Key = readForm(reader, 0);
  skipPartyMap(reader);
  const ristretto = readShares(reader, 3);
  const curve25519Key = readForm(reader, 2);
  skipPartyMap(reader);
  const curve25519 = readShares(reader, 2);
  const secp256r1 = readShares(reader, 1);
  const secp256r1Key = readForm(reader, 1);
  skipPartyMap(reader);
  return {
    shares: [secp256k1, secp256r1, curve25519, ristretto],
    encryptionKeys: [secp256k1Key, secp256r1Key, curve25519Key, curve25519Key],
  };
}

/** The parts of an output that {@link decodeNetworkKeyOutput} skips. */
interface SkippedParts {
  /** 2, 3 or 4. */
  readonly version: number;
  /** The verification keys of the network's parties, the same in all three maps. Ids have 16 bits. */
  readonly parties: ReadonlyMap<number, Form>;
  /** The bytes after the last map. */
  readonly tail: Uint8Array;
}

/**
 * Encodes an output for {@link decodeNetworkKeyOutput}. By default it writes the form that ika-wasm 0.2.1 accepts:
 * version 2, empty maps, and zeros for the parts that only the network's own parties use.
 */
export function encodeNetworkKeyOutput(
  output: NetworkKeyOutput,
  { version, parties, tail }: SkippedParts = MINIMAL_PARTS,
): Uint8Array {
  const shares = (curve: 0 | 1 | 2 | 3) => encodeShares(output.shares[curve], curve);
  const key = (curve: 0 | 1 | 2) => encodeVector(encodeForm(output.encryptionKeys[curve]));
  const map = concatBytes(
    encodeUleb128(parties.size),
    ...[...parties].flatMap(([id, form]) => [uint16(id), encodeVector(encodeForm(form))]),
  );
  const body = concatBytes(
    ...[shares(0), key(0), map],
    ...[shares(3), key(2), map],
    ...[shares(2), shares(1), key(1), map, tail],
  );
  return concatBytes(Uint8Array.of(version - 1), encodeVector(body));
}

const CRT_PARTS = 6;
const CRT_PART_BYTES = 384;
const MINIMAL_PARTS: SkippedParts = {
  version: 2,
  parties: new Map(),
  tail: concatBytes(
    Uint8Array.of(0),
    ...Array.from({ length: CRT_PARTS }, () => encodeVector(new Uint8Array(CRT_PART_BYTES))),
  ),
};

const uint16 = (id: number) => Uint8Array.of(id & 255, id >> 8);

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

/** Skips a map. Each entry is a party's id (two bytes) and a form, which is not decoded. */
function skipPartyMap(reader: ByteReader): void {
  const count = reader.uleb128();
  if (count > MAX_PARTY_COUNT)
    throw new MalformedBytesError(
      `network key output: ${count} parties exceed the limit of ${MAX_PARTY_COUNT}`,
    );
  for (let party = 0; party < count; party++) {
    reader.take(2);
    reader.vector(FORM_BYTES);
  }
}

/**
 * Returns the common content of all readable outputs of one network key in the shortest form: version 2 without maps.
 * Every output of the key has the same content, whichever committee made it.
 *
 * `outputs` are those of the key, the newest first. Throws UnsupportedOutputError for the newest if none is readable,
 * DifferingOutputsError, and the errors of `decodeNetworkKeyOutput` for a malformed output.
 */
export function chooseKeyOutput(outputs: readonly Uint8Array[]): Uint8Array {
  let chosen: Uint8Array | undefined;
  let unsupported: UnsupportedOutputError | undefined;
  for (const output of outputs) {
    try {
      const found = encodeNetworkKeyOutput(decodeNetworkKeyOutput(output));
      if (chosen !== undefined && !equalBytes(chosen, found))
        throw new DifferingOutputsError("the network key's outputs hold different shares or keys");
      chosen ??= found;
    } catch (error) {
      if (!(error instanceof UnsupportedOutputError)) throw error;
      unsupported ??= error;
    }
  }
  if (chosen !== undefined) return chosen;
  throw unsupported ?? new Error("a network key without an output");
}

/** Thrown if two outputs of one network key contain different shares or keys: one of them belongs to another key. */
export class DifferingOutputsError extends Error {
  override readonly name = "DifferingOutputsError";
}
