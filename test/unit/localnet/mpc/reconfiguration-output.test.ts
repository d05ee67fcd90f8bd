import { expect, it } from "vitest";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import {
  reconfigurationOutput,
  version1Output,
} from "../../../../src/localnet/mpc/reconfiguration-output.ts";
import {
  decodeNetworkKeyOutput,
  UnsupportedOutputError,
} from "../../../../src/protocol/parameters/network-key-output.ts";

const dkg = networkParty(new Uint8Array(32).fill(7), undefined).networkDkgPublicOutput();
/** The offset of the first map, after a tag, a length of three bytes, four forms, two points and a key. */
const FIRST_MAP = 1 + 3 + 4 * 258 + 2 * 34 + 258;

it("a reconfiguration output has version 4, the key's shares and keys, and a new committee each epoch", () => {
  const outputs = [2n, 3n, 4n, 5n].map((epoch) => reconfigurationOutput(dkg, epoch));
  for (const output of outputs) {
    expect(output[0]).toBe(3);
    expect(decodeNetworkKeyOutput(output)).toEqual(decodeNetworkKeyOutput(dkg));
    expect(output.length).toBeGreaterThan(30_000);
  }
  expect(outputs.map((output) => output[FIRST_MAP])).toEqual([6, 7, 4, 5]);
});

it("an output of version 1 is refused by every client", () => {
  expect(() => decodeNetworkKeyOutput(version1Output(dkg))).toThrow(new UnsupportedOutputError(1));
});
