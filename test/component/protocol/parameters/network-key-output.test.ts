import { createHash } from "node:crypto";
import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { encodeVector, MalformedBytesError } from "../../../../src/protocol/bytes.ts";
import { InvalidFormError } from "../../../../src/protocol/class-groups/class-group.ts";
import { buildProtocolParameters } from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import {
  chooseKeyOutput,
  DifferingOutputsError,
  decodeNetworkKeyOutput,
  encodeNetworkKeyOutput,
  UnsupportedOutputError,
} from "../../../../src/protocol/parameters/network-key-output.ts";
import { REAL_OUTPUTS, REAL_PARAMETERS } from "./network-key-outputs.ts";

const minimal = networkParty(new Uint8Array(32).fill(7), undefined).networkDkgPublicOutput();
const real = Object.entries(REAL_OUTPUTS);
const { dkgVersion2, dkgVersion4, reconfigurationVersion4 } = REAL_OUTPUTS;
const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

describe("an output of a network key", () => {
  it("without maps and a tail is encoded again to the bytes that were read", () => {
    expect(encodeNetworkKeyOutput(decodeNetworkKeyOutput(minimal))).toEqual(minimal);
  });

  it.each(real)("of a real network holds the same shares and keys in every version: %s", (_, output) => {
    expect(decodeNetworkKeyOutput(output)).toEqual(decodeNetworkKeyOutput(dkgVersion2));
  });

  it.each([2, 3, 4])("of version %i is read with any number of parties and any tail", (version) => {
    const output = decodeNetworkKeyOutput(minimal);
    const form = output.encryptionKeys[0];
    for (const count of [0, 1, 115, 2_048]) {
      const parties = new Map(Array.from({ length: count }, (_, id) => [id * 31, form] as const));
      for (const tail of [new Uint8Array(), new Uint8Array(1_000).fill(255)]) {
        const bytes = encodeNetworkKeyOutput(output, { version, parties, tail });
        expect(decodeNetworkKeyOutput(bytes)).toEqual(output);
      }
    }
  });

  it("with more parties than any network has is refused", () => {
    const output = decodeNetworkKeyOutput(minimal);
    const parties = new Map(
      Array.from({ length: 2_049 }, (_, id) => [id, output.encryptionKeys[0]] as const),
    );
    const bytes = encodeNetworkKeyOutput(output, { version: 4, parties, tail: new Uint8Array() });
    expect(() => decodeNetworkKeyOutput(bytes)).toThrow(
      new MalformedBytesError("network key output: 2049 parties exceed the limit of 2048"),
    );
  });

  it.each([1, 5, 256])("of version %i is refused, and the error names the version", (version) => {
    const decode = () => decodeNetworkKeyOutput(reconfigurationVersion4.with(0, version - 1));
    expect(decode).toThrow(UnsupportedOutputError);
    expect(decode).toThrow(`has version ${version}; supported are versions 2 to 4`);
  });

  it.each([
    ["a missing byte", minimal.subarray(0, -1)],
    ["a byte too many", concatBytes(minimal, Uint8Array.of(0))],
    ["nothing", new Uint8Array()],
    ["an empty body", concatBytes(Uint8Array.of(1), encodeVector(new Uint8Array()))],
    [
      "a body that ends in the last map",
      concatBytes(Uint8Array.of(3), encodeVector(reconfigurationVersion4.subarray(4, 8_200))),
    ],
  ])("is refused with %s", (_, bytes) => {
    expect(() => decodeNetworkKeyOutput(bytes)).toThrow(MalformedBytesError);
  });

  it("is refused with an unknown form", () => {
    expect(() => decodeNetworkKeyOutput(minimal.with(10, minimal[10]! ^ 1))).toThrow(InvalidFormError);
  });

  it("that is cut, changed or claims to be huge is read or refused by name, without a large allocation", () => {
    const length = fc.constantFrom(0xff, 0xffff, 0x7fff_ffff, 0xffff_ffff);
    const uleb = (value: number): number[] =>
      value < 128 ? [value] : [(value % 128) | 128, ...uleb(Math.floor(value / 128))];
    const place = fc.nat(reconfigurationVersion4.length - 1);
    const changed = fc.oneof(
      fc.nat(reconfigurationVersion4.length).map((end) => reconfigurationVersion4.subarray(0, end)),
      fc
        .tuple(place, fc.integer({ min: 1, max: 255 }))
        .map(([at, bits]) => reconfigurationVersion4.with(at, reconfigurationVersion4[at]! ^ bits)),
      fc.tuple(place, length).map(([at, value]) => {
        const bytes = reconfigurationVersion4.slice();
        bytes.set(uleb(value).slice(0, bytes.length - at), at);
        return bytes;
      }),
      fc.uint8Array({ maxLength: 300 }).map((bytes) => concatBytes(Uint8Array.of(3), encodeVector(bytes))),
    );
    fc.assert(
      fc.property(changed, (bytes) => {
        const before = process.memoryUsage().arrayBuffers;
        try {
          decodeNetworkKeyOutput(bytes);
        } catch (error) {
          if (!isRefusal(error)) throw error;
          expect((error as Error).message.length).toBeLessThan(200);
        }
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 1024 * 1024);
      }),
      { numRuns: 2_000, seed: 1 },
    );
  });
});

describe("the parameters of a real network's key", () => {
  it.each(REAL_PARAMETERS)(
    "equal those that ika-wasm 0.2.1 derives, on curve $curve",
    ({ curve, ...expected }) => {
      for (const output of [reconfigurationVersion4, chooseKeyOutput([reconfigurationVersion4])]) {
        const built = buildProtocolParameters(curve, output);
        expect([built.length, sha256(built)]).toEqual([expected.compactBytes, expected.compactSha256]);
      }
    },
  );
});

describe("the outputs of one network key", () => {
  const version1 = dkgVersion4.with(0, 0);
  const version5 = dkgVersion4.with(0, 4);

  it("give the same key whichever of them can be read, in any order", () => {
    const expected = chooseKeyOutput([dkgVersion2]);
    for (const outputs of [
      [reconfigurationVersion4, dkgVersion4, dkgVersion2],
      [reconfigurationVersion4, version1],
      [version5, dkgVersion2],
    ])
      expect(chooseKeyOutput(outputs)).toEqual(expected);
    expect(decodeNetworkKeyOutput(expected)).toEqual(decodeNetworkKeyOutput(dkgVersion2));
  });

  it("are refused if they hold different shares or keys", () => {
    expect(() => chooseKeyOutput([reconfigurationVersion4, minimal])).toThrow(DifferingOutputsError);
    expect(() => chooseKeyOutput([minimal, version1, dkgVersion2])).toThrow(DifferingOutputsError);
  });

  it("are refused with the newest one's version if none can be read", () => {
    expect(() => chooseKeyOutput([version1])).toThrow(new UnsupportedOutputError(1));
    expect(() => chooseKeyOutput([version5, version1])).toThrow(new UnsupportedOutputError(5));
  });

  it("are refused if a readable one is malformed, whatever the others are", () => {
    expect(() => chooseKeyOutput([reconfigurationVersion4, dkgVersion2.subarray(0, -1)])).toThrow(
      MalformedBytesError,
    );
  });
});

function isRefusal(error: unknown): boolean {
  return (
    error instanceof MalformedBytesError ||
    error instanceof InvalidFormError ||
    error instanceof UnsupportedOutputError
  );
}
