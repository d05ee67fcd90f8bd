import { describe, expect, it } from "vitest";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import {
  bytesToHex,
  concatBytes,
  encodeVector,
  MalformedBytesError,
} from "../../../../src/protocol/bytes.ts";
import { encodeForm, InvalidFormError } from "../../../../src/protocol/class-groups/class-group.ts";
import { buildProtocolParameters } from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveConstants } from "../../../../src/protocol/parameters/curve-constants.ts";
import {
  decodeNetworkDkgPublicOutput,
  encodeNetworkDkgPublicOutput,
  UnsupportedOutputError,
} from "../../../../src/protocol/parameters/network-dkg-output.ts";

const output = networkParty(new Uint8Array(32).fill(7), undefined).networkDkgPublicOutput();

function withByte(index: number, value: number): Uint8Array {
  return output.with(index, value);
}

describe("the network DKG public output", () => {
  it("is written as it was read", () => {
    expect(encodeNetworkDkgPublicOutput(decodeNetworkDkgPublicOutput(output))).toEqual(output);
  });

  it.each([
    ["a missing byte", output.subarray(0, -1)],
    ["a byte too many", concatBytes(output, Uint8Array.of(0))],
    ["nothing", new Uint8Array()],
    ["an empty body", concatBytes(Uint8Array.of(1), encodeVector(new Uint8Array()))],
  ])("is refused with %s", (_, bytes) => {
    expect(() => decodeNetworkDkgPublicOutput(bytes)).toThrow(MalformedBytesError);
  });

  it.each([0, 2, 3])("is refused as unsupported with version tag %i", (tag) => {
    expect(() => decodeNetworkDkgPublicOutput(withByte(0, tag))).toThrow(UnsupportedOutputError);
  });

  it("is refused with per-party maps, which this version of the protocol's wasm does not read either", () => {
    const mapAfterFirstKey = 3 + 4 * 258 + 2 * 34 + 258;
    expect(output[mapAfterFirstKey]).toBe(0);
    const decode = () => decodeNetworkDkgPublicOutput(withByte(mapAfterFirstKey, 1));
    expect(decode).toThrow(UnsupportedOutputError);
    expect(decode).toThrow("maps are not supported");
  });

  it("is refused with a form that is none", () => {
    expect(() => decodeNetworkDkgPublicOutput(withByte(10, output[10]! ^ 1))).toThrow(InvalidFormError);
  });
});

describe("compact protocol parameters", () => {
  it.each([
    [0, 2_416_516],
    [1, 2_416_516],
    [2, 2_416_508],
    [3, 2_416_507],
  ])("of curve %i are about 2.4 MB with the network's key in them, always the same", (curve, size) => {
    const parameters = buildProtocolParameters(curve, output);
    expect(parameters).toHaveLength(size);
    const text = Buffer.from(parameters).toString("latin1");
    expect(text).toContain(curveConstants(curve).name);
    const { shares, encryptionKeys } = decodeNetworkDkgPublicOutput(output);
    const { publicShares, encryptedShares } = shares[curve as 0 | 1 | 2 | 3];
    for (const bytes of [...publicShares, ...encryptedShares.flat().map(encodeForm)]) {
      expect(text).toContain(Buffer.from(bytes).toString("latin1"));
    }
    expect(bytesToHex(parameters.subarray(-2000))).toContain(
      bytesToHex(encodeForm(encryptionKeys[curve as 0]!)).slice(0, 200),
    );
  });

  it("are refused for an unknown curve", () => {
    expect(() => buildProtocolParameters(4, output)).toThrow(RangeError);
  });
});
