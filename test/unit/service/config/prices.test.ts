import { expect, it } from "vitest";
import { loadConfig, readConfig } from "../../../../src/service/config/config.ts";

const faultsOf = (environment: NodeJS.ProcessEnv) => readConfig(environment).faults;

it("accepts one price for each algorithm, and names what it cannot read", () => {
  const name = "BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD";
  const { prices } = loadConfig({ [name]: "EdDSA=8000, Taproot = 9000" }).networks[0];
  expect([...prices.signByAlgorithmMicroUsd]).toEqual([
    ["EdDSA", 8_000n],
    ["Taproot", 9_000n],
  ]);
  const spelled = loadConfig({ [name]: "SchnorrkelSubstrate=1" }).networks[0].prices.signByAlgorithmMicroUsd;
  expect([...spelled]).toEqual([["Schnorrkel", 1n]]);
  for (const wrong of [
    "SchnorrkelSubstrate=1,Schnorrkel=1",
    "TaprootVSS=1",
    "EdDSA",
    "Ed25519=1",
    "EdDSA=1,EdDSA=2",
    "EdDSA=-1",
    "EdDSA=0.5",
    "EdDSA=1000000000001",
  ])
    expect(faultsOf({ [name]: wrong }), wrong).toEqual([
      expect.stringContaining(`${name}: expected each of`),
    ]);
  expect(faultsOf({ BILLING_PRICE_DKG_MICRO_USD: "free" })).toHaveLength(1);
});
