import { createHash } from "node:crypto";
import {
  Curve,
  createClassGroupsKeypair,
  networkDkgPublicOutputToProtocolPublicParameters,
} from "@ika.xyz/sdk";
import { concatBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { networkParty } from "../../src/localnet/mpc/network-party.ts";
import {
  type ByteReader,
  bigIntFromLittleEndian,
  byteReader,
  signedBigIntFromLittleEndian,
} from "../../src/protocol/bytes.ts";
import {
  type ClassGroup,
  classGroupOfCurve,
  completeForm,
} from "../../src/protocol/class-groups/class-group.ts";
import { powerForm } from "../../src/protocol/class-groups/exponentiation.ts";
import { equalForms, type Form } from "../../src/protocol/class-groups/forms.ts";
import { deriveClassGroupsKeypair } from "../../src/protocol/class-groups/keypair.ts";
import {
  buildProtocolParameters,
  FULL_TABLES,
} from "../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveConstants } from "../../src/protocol/parameters/curve-constants.ts";
import { atNight, environment } from "../support/environment.ts";

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const networkOutput = networkParty(new Uint8Array(32).fill(5), undefined).networkDkgPublicOutput();

interface Table {
  readonly base: Form;
  readonly degree: number;
  readonly rowBits: number;
  readonly entries: readonly Form[];
}

/** Splits protocol parameters into their tables and the rest. */
function withoutTables(curve: number, parameters: Uint8Array): { rest: Uint8Array; tables: Table[] } {
  const group = classGroupOfCurve(curve);
  const reader = byteReader(parameters, "protocol parameters");
  const kept: Uint8Array[] = [];
  const keep = (until: () => void): void => {
    const start = reader.offset;
    until();
    kept.push(parameters.subarray(start, reader.offset));
  };
  const point = () => (curveConstants(curve).lengthPrefixed ? reader.vector(33) : reader.take(32));
  const vectors = (count: number) => {
    for (let index = 0; index < count; index++) reader.vector();
  };
  const scalarGroup = () => {
    vectors(2);
    if (curveConstants(curve).lengthPrefixed) reader.vector(32);
    else reader.take(32);
  };
  const tables: Table[] = [];
  let bases = 0;
  keep(() => {
    for (const read of [point, point, () => vectors(4), scalarGroup, () => vectors(4), point]) read();
    for (const read of [() => vectors(2), scalarGroup, () => reader.take(12)]) read();
    discriminant(reader);
    bases = reader.uleb128();
  });
  for (let index = 0; index < bases; index++) {
    keep(() => readForm(group, reader));
    const count = reader.uleb128();
    for (let table = 0; table < count; table++) tables.push(readTable(group, reader));
  }
  keep(() => reader.take(reader.remaining));
  return { rest: concatBytes(...kept), tables };
}

function discriminant(reader: ByteReader): void {
  reader.vector(256);
  reader.uint32();
  reader.vector(256);
}

function readForm(group: ClassGroup, reader: ByteReader): Form {
  const [a, b, c] = [reader.vector(256), reader.vector(256), reader.vector(256)];
  reader.uint32();
  const form = completeForm(group, bigIntFromLittleEndian(a), signedBigIntFromLittleEndian(b));
  expect(form.c).toBe(bigIntFromLittleEndian(c));
  return form;
}

function readTable(group: ClassGroup, reader: ByteReader): Table {
  const base = readForm(group, reader);
  discriminant(reader);
  const entries = Array.from({ length: reader.uleb128() }, () => readForm(group, reader));
  const [bits, degree, rowBits] = [reader.uint32(), reader.uint32(), reader.uint32()];
  expect(bits).toBe(degree * rowBits);
  return { base, degree, rowBits, entries };
}

// The tables of a curve take ten seconds. real-network-parameters.test.ts has those of another curve.
const OF_WASM = [
  [Curve.SECP256K1, 0, "a7fc98aed33dc282103abdbf2a52fd75e8efe41cd09abb0964a9fdf647997ec3"],
  [Curve.ED25519, 2, "f1dd4145c68088acd8e15e75bfe40f6a263bfcdeec0890ba275d93c84ab6c2c4"],
] as const;

describe.each(atNight(OF_WASM, OF_WASM.slice(0, 1)))(
  "protocol parameters of %s",
  (name, curve, sha256OfWasm) => {
    it("equal the wasm's byte for byte with full tables, and differ only in the tables with compact ones", async () => {
      const built = buildProtocolParameters(curve, networkOutput, FULL_TABLES);
      expect(sha256(built)).toBe(sha256OfWasm);
      if (environment.isReference)
        expect(
          sha256(
            Uint8Array.from(await networkDkgPublicOutputToProtocolPublicParameters(name, networkOutput)),
          ),
        ).toBe(sha256OfWasm);

      const full = withoutTables(curve, built);
      const compact = withoutTables(curve, buildProtocolParameters(curve, networkOutput));
      expect(compact.rest).toEqual(full.rest);
      expect(full.tables.map(({ degree }) => degree)).toEqual(Array(14).fill(12));
      expect(compact.tables.map(({ degree }) => degree)).toEqual(Array(12).fill(8));
      // Each compact table replaces the wasm's table of the same base, and is at least as long.
      const longEnough = full.tables.filter(({ rowBits }) => rowBits * 12 < 1500);
      compact.tables.forEach((table, index) => {
        expect(equalForms(table.base, longEnough[index]!.base)).toBe(true);
        expect(8 * table.rowBits).toBeGreaterThanOrEqual(12 * longEnough[index]!.rowBits);
      });
    });

    it("have compact tables with correct powers", () => {
      const group = classGroupOfCurve(curve);
      const { tables } = withoutTables(curve, buildProtocolParameters(curve, networkOutput));
      for (const { base, rowBits, entries } of tables) {
        expect(entries).toHaveLength(256);
        for (const index of [0, 1, 2, 4, 8, 16, 32, 64, 128, 255, 171]) {
          const exponent = Array.from(
            { length: 8 },
            (_, row) => BigInt((index >> row) & 1) << BigInt(row * rowBits),
          );
          const power = powerForm(
            group,
            base,
            exponent.reduce((sum, term) => sum + term),
          );
          expect(equalForms(entries[index]!, power)).toBe(true);
        }
      }
    });
  },
);

it("a class-groups key pair derived here equals the wasm's for a seed that needs a second draw", async () => {
  const seed = new Uint8Array(32).fill(6);
  const sha256OfWasm = [
    "8ac578c72848dd1a0e384208c5896724a275b596b31e7bf485f45ae1ecd60474",
    "f87d91f5a8c17cdbc3ebb9b572960f7f2aeef8973b01308204a0ece68cbda179",
  ];
  const digestsOf = ({
    encryptionKey,
    decryptionKey,
  }: {
    encryptionKey: Uint8Array;
    decryptionKey: Uint8Array;
  }) => [encryptionKey, decryptionKey].map((key) => sha256(Uint8Array.from(key)));
  expect(digestsOf(deriveClassGroupsKeypair(2, seed))).toEqual(sha256OfWasm);
  if (environment.isReference)
    expect(digestsOf(await createClassGroupsKeypair(seed, Curve.ED25519))).toEqual(sha256OfWasm);
});
