import { describe, expect, it } from "vitest";
import type { MpcOutcome } from "../../../../src/localnet/mpc/engine.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { decodeNetworkKeyOutput } from "../../../../src/protocol/parameters/network-key-output.ts";
import { NETWORK_SEED } from "../../../unit/localnet/mpc/recorded-sessions.ts";

const party = networkParty(NETWORK_SEED, undefined);

function output(outcome: MpcOutcome): Uint8Array {
  if (outcome.kind === "rejected") throw new Error(`rejected: ${outcome.reason}`);
  return outcome.output;
}

describe("presigns", () => {
  it("are the same for a session and differ between sessions and families, so that no nonce repeats", () => {
    const make = (signatureAlgorithm: number, fill: number) =>
      output(party.presign({ curve: 0, signatureAlgorithm, sessionId: new Uint8Array(32).fill(fill) }));
    expect(make(1, 1)).toEqual(make(1, 1));
    const tails = [make(0, 1), make(0, 2), make(1, 1), make(1, 2)].map((presign) =>
      Buffer.from(presign.subarray(-101, -33)).toString("hex"),
    );
    expect(new Set(tails).size).toBe(4);
  });

  it("have the real network's sizes", () => {
    const size = (curve: number, signatureAlgorithm: number) =>
      output(party.presign({ curve, signatureAlgorithm, sessionId: new Uint8Array(32) })).length;
    expect([size(0, 0), size(1, 0), size(2, 0)]).toEqual([2718, 2718, 1165]);
  });
});

it("the network's public output is readable and depends only on the seed", () => {
  const bytes = party.networkDkgPublicOutput();
  expect(bytes).toHaveLength(7489);
  expect(decodeNetworkKeyOutput(bytes).shares).toHaveLength(4);
  expect(networkParty(NETWORK_SEED, undefined).networkDkgPublicOutput()).toEqual(bytes);
});
