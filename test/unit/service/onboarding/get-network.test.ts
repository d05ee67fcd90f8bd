import { getNetworkConfig } from "@ika.xyz/sdk";
import { describe, expect, it } from "vitest";
import type { ChainNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { describeNetwork } from "../../../../src/service/onboarding/get-network.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";

const KEY = { id: "0x1", epoch: "1" };

/** The reply of GetNetwork if the operator names this fullnode to clients. */
function answerWith(publicFullnodeUrl: string | undefined) {
  const network = {
    name: "testnet",
    publicFullnodeUrl,
    fullnodeUrl: new Secret("https://node.example/0123456789abcdef"),
    senderAddress: "0x2",
    treasury: { packageId: "0x3", treasuryId: "0x4", operatorCapIds: [] },
    ikaConfig: getNetworkConfig("testnet"),
  } as unknown as ChainNetwork;
  const reader = { networkKey: async () => KEY, networkKeys: async () => [KEY] } as never;
  return describeNetwork({ network, reader, parameters: { ready: () => [] } as never });
}

describe("the public description of the network", () => {
  it("names the fullnode that the operator chose for clients, or none, and never the service's own", async () => {
    expect((await answerWith("https://fullnode.testnet.sui.io")).fullnodeUrl).toBe(
      "https://fullnode.testnet.sui.io",
    );
    const answer = await answerWith(undefined);
    expect(answer.fullnodeUrl).toBe("");
    expect(
      JSON.stringify(answer, (_, value) => (typeof value === "bigint" ? String(value) : value)),
    ).not.toContain("node.example");
  });
});
