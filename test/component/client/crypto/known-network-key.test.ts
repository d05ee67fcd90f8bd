import { expect, it } from "vitest";
import {
  forgetLadders,
  knownLadder,
  knownNetworkKey,
} from "../../../../src/client/crypto/known-network-key.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import {
  buildProtocolParameters,
  NO_TABLES,
} from "../../../../src/protocol/parameters/build-protocol-parameters.ts";
import { curveByNumber } from "../../../../src/protocol/proofs/curve.ts";
import { ownNetwork } from "../../../support/crypto/own-dwallet.ts";

const curve = curveByNumber(2);
const parametersOf = (seed: number) =>
  buildProtocolParameters(2, ownNetwork(seed).networkDkgPublicOutput(), NO_TABLES);

it("several network keys are read once each, whatever copy of their parameters comes", () => {
  const all = [parametersOf(1), parametersOf(2)];
  const first = all.map((parameters) => knownNetworkKey(curve, parameters));
  expect(first[0]).not.toEqual(first[1]);
  for (const [index, parameters] of all.entries())
    expect(knownNetworkKey(curve, parameters.slice())).toBe(first[index]);
});

it("the ladder of a base is built once, until it is forgotten", () => {
  const { h } = curve.group;
  const ladder = runSteps(knownLadder(curve, h));
  expect(runSteps(knownLadder(curve, h))).toBe(ladder);
  forgetLadders(h);
  const rebuilt = runSteps(knownLadder(curve, h));
  expect(rebuilt).not.toBe(ladder);
  expect(rebuilt.rungs.length).toBe(942);
});
