import { getNetworkConfig } from "@ika.xyz/sdk";
import { fromBase58, toHex } from "@mysten/sui/utils";
import { describe, expect, test } from "vitest";
import { CHAIN_PINS, pinsOf } from "../../../../src/client/sdk/chain/network.ts";
import { idsOf } from "../../../unit/client/sdk/chain-harness.ts";

describe.each(["testnet", "mainnet"] as const)("the pins of %s", (network) => {
  const { ika, fullnodeUrls } = CHAIN_PINS[network];

  test("are the ids of the Ika SDK, and Sui's public fullnode", () => {
    expect(ika).toEqual(idsOf({ ikaConfig: getNetworkConfig(network) }));
    expect(fullnodeUrls).toEqual([`https://fullnode.${network}.sui.io:443`]);
  });
});

test("chain identifiers are digests that begin with Sui's own short identifiers", () => {
  const short = (network: "testnet" | "mainnet") => toHex(fromBase58(CHAIN_PINS[network].chainIdentifier));
  expect(short("testnet")).toMatch(/^4c78adac.{56}$/);
  expect(short("mainnet")).toMatch(/^35834a8a.{56}$/);
  expect(pinsOf("localnet")).toBeUndefined();
});
