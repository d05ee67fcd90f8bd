import { expect, it } from "vitest";
import { loadTreasuryConfig } from "../../../../src/service/config/config.ts";

const id = (digit: string): string => `0x${digit.repeat(64)}`;

it("the Treasury's configuration reads its own settings, and ignores faults of others", () => {
  const config = loadTreasuryConfig("mainnet", {
    SUI_GRPC_URL_MAINNET: "https://node.example/key",
    SERVICECORE_MAINNET_PACKAGE_ID: id("a"),
    SERVICECORE_MAINNET_TREASURY_ID: id("b"),
    DATABASE_URL: "nonsense",
    PORT: "nonsense",
    HOT_WALLET_SUI_SECRET_HEX: "nonsense",
    NETWORKS: "testnet,mainnet",
    SERVICECORE_TESTNET_TREASURY_ID: "nonsense",
  });
  expect(config.fullnodeUrl?.reveal()).toBe("https://node.example/key");
  expect(config).toMatchObject({ name: "mainnet", packageId: id("a"), treasuryId: id("b") });
});

it("without settings the network is the localnet, and public networks have no configuration", () => {
  expect(loadTreasuryConfig(undefined, {})).toEqual({
    name: "localnet",
    fullnodeUrl: undefined,
    packageId: undefined,
    treasuryId: undefined,
  });
  expect(loadTreasuryConfig("testnet", {}).treasuryId).toBeUndefined();
});

it("several networks, an unknown network and a malformed id are refused by name", () => {
  const load = (environment: NodeJS.ProcessEnv) => () => loadTreasuryConfig(undefined, environment);
  expect(load({ NETWORKS: "testnet,mainnet" })).toThrow("--network");
  expect(load({ NETWORKS: "devnet" })).toThrow("NETWORKS");
  expect(load({ NETWORKS: "testnet", SERVICECORE_TESTNET_TREASURY_ID: "0x1" })).toThrow(
    "SERVICECORE_TESTNET_TREASURY_ID",
  );
});
