/** Where a client's chain comes from: from the caller, or on a localnet from the service. */
import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { GetNetworkResponseSchema } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import type { CryptoEngine } from "../../../../src/client/crypto/engine.ts";
import { chooseChain } from "../../../../src/client/sdk/chain/choose-chain.ts";
import { openChain } from "../../../../src/client/sdk/chain/open-chain.ts";
import { act } from "./chain-harness.ts";

const [OWN, ANNOUNCED] = ["a", "b"].map((digit) => `0x${digit.repeat(64)}`);

/** Opens a localnet whose service announces this Treasury and this fullnode. Counts the calls of the service. */
function open(announced: { treasuryId?: string; fullnodeUrl?: string }, treasuryId?: string) {
  const answer = create(GetNetworkResponseSchema, announced);
  const service = { callCount: 0 };
  const known = async () => {
    service.callCount++;
    return answer;
  };
  const chain = openChain({
    chosen: chooseChain({ network: "localnet", treasuryId }),
    source: { known, read: known },
    engine: {} as CryptoEngine,
  });
  return { chain, service };
}

test("the caller's own Treasury is used, and the service is not asked", async () => {
  const { chain, service } = open({ treasuryId: ANNOUNCED! }, OWN);
  expect(await act((action) => chain.treasuryId(action))).toBe(OWN);
  expect(service.callCount).toBe(0);
});

test("without one, the Treasury that the service names is used", async () => {
  const { chain } = open({ treasuryId: ANNOUNCED! });
  expect(await act((action) => chain.treasuryId(action))).toBe(ANNOUNCED);
});

test.each(["", "0x1", "a Treasury"])("a service's Treasury %j is refused", async (treasuryId) => {
  const { chain } = open({ treasuryId });
  await expect(act((action) => chain.treasuryId(action))).rejects.toMatchObject({
    ...{ reason: "NETWORK_MISMATCH", message: expect.stringContaining("give the client a treasuryId") },
  });
});

test.each(["", "grpc://127.0.0.1:1", "file:///etc/passwd"])(
  "a service's fullnode %j is refused",
  async (fullnodeUrl) => {
    const { chain } = open({ fullnodeUrl });
    await expect(act((action) => chain.chainPosition(action))).rejects.toMatchObject({
      ...{ reason: "NETWORK_MISMATCH", message: expect.stringContaining("give the client a fullnodeUrl") },
    });
  },
);
