import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { encodeForm } from "../../../../src/protocol/class-groups/class-group.ts";
import {
  buildProtocolParameters,
  COMPACT_TABLES,
  FULL_TABLES,
} from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveConstants } from "../../../../src/protocol/parameters/curve-constants.ts";
import { decodeNetworkKeyOutput } from "../../../../src/protocol/parameters/network-key-output.ts";

const output = networkParty(new Uint8Array(32).fill(7), undefined).networkDkgPublicOutput();

describe("compact protocol parameters", () => {
  it.each([
    [0, 2_416_516],
    [1, 2_416_516],
    [2, 2_416_508],
    [3, 2_416_507],
  ])(
    "of curve %i have about 2.4 MB and contain the network's key, and are always the same",
    (curve, size) => {
      const parameters = buildProtocolParameters(curve, output);
      expect(parameters).toHaveLength(size);
      const text = Buffer.from(parameters).toString("latin1");
      expect(text).toContain(curveConstants(curve).name);
      const { shares, encryptionKeys } = decodeNetworkKeyOutput(output);
      const { publicShares, encryptedShares } = shares[curve as 0 | 1 | 2 | 3];
      for (const bytes of [...publicShares, ...encryptedShares.flat().map(encodeForm)]) {
        expect(text).toContain(Buffer.from(bytes).toString("latin1"));
      }
      expect(bytesToHex(parameters.subarray(-2000))).toContain(
        bytesToHex(encodeForm(encryptionKeys[curve as 0]!)).slice(0, 200),
      );
    },
  );

  it("are refused for an unknown curve", () => {
    expect(() => buildProtocolParameters(4, output)).toThrow(RangeError);
  });
});

/** The shortest table: its base with a discriminant, the number of its forms, two forms and three numbers. */
const SHORTEST_TABLE_BYTES = 778 + 520 + 1 + 2 * 778 + 12;

it("full protocol parameters have two tables more than compact ones, for exponents of 1872 and 2064 bits", () => {
  const [compact, full] = [COMPACT_TABLES, FULL_TABLES].map((shape) =>
    buildProtocolParameters(0, output, { ...shape, degree: 1 }),
  );
  expect(full!.length - compact!.length).toBe(2 * SHORTEST_TABLE_BYTES);
  const endsOfTables = (parameters: Uint8Array) =>
    [1872, 2064].map((bits) =>
      Buffer.from(parameters).includes(Buffer.from(Uint32Array.of(bits, 1, bits).buffer)),
    );
  expect(endsOfTables(compact!)).toEqual([false, false]);
  expect(endsOfTables(full!)).toEqual([true, true]);
});
