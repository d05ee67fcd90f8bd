import { expect, test } from "vitest";
import { CHAIN_PINS } from "../../../../src/client/sdk/chain/network.ts";
import { createClient, createRecovery, type RecoveryOptions } from "../../../../src/client/sdk/index.ts";

const ika = CHAIN_PINS.testnet.ika;
const id = (digit: string) => `0x${digit.repeat(64)}`;
const fullnodeUrl = "https://fullnode.invalid";

test.each<[string, RecoveryOptions]>([
  ["fullnodeUrl", { network: "localnet", ika }],
  ["ika", { network: "localnet", fullnodeUrl }],
  ["ika", { network: "testnet", ika: { ...ika, ikaDwallet2pcMpcOriginalPackage: id("1") } }],
  ["ika", { network: "testnet", ika: { ...ika, ikaDwalletCoordinator: { objectId: id("1") } } }],
  [
    "ika.ikaDwalletCoordinator",
    { network: "localnet", fullnodeUrl, ika: { ...ika, ikaDwalletCoordinator: { objectId: "0x1" } } },
  ],
  ["chainIdentifier", { network: "testnet", chainIdentifier: CHAIN_PINS.mainnet.chainIdentifier }],
  ["treasuryId", { network: "testnet", treasuryId: "0x1" }],
])("a recovery whose %s is absent or wrong is refused when it is created", (field, options) => {
  expect(() => createRecovery(options)).toThrow(
    expect.objectContaining({ reason: "VALIDATION", metadata: { field } }),
  );
});

test("a client refuses other ids of Ika than those of its public network", () => {
  const options = { baseUrl: "http://service.invalid", apiKey: "tss_test_x", network: "testnet" } as const;
  expect(createClient({ ...options, ika })).toBeDefined();
  expect(() =>
    createClient({ ...options, ika: { ...ika, ikaDwalletCoordinator: { objectId: id("1") } } }),
  ).toThrow(expect.objectContaining({ reason: "VALIDATION", metadata: { field: "ika" } }));
});

test("a recovery without a Treasury searches nothing, and says so", async () => {
  const recovery = createRecovery({ network: "testnet" });
  await expect(recovery.findDWallets({ seed: new Uint8Array(32) })).rejects.toMatchObject({
    reason: "VALIDATION",
    metadata: { field: "treasuryId" },
  });
});
