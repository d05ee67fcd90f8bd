import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadConfig, readConfig } from "../../../src/config/config.ts";

const ID = `0x${"1".repeat(64)}`;
const MAINNET = {
  NETWORKS: "mainnet",
  SUI_GRPC_URL_MAINNET: "https://fullnode.example",
  SERVICECORE_MAINNET_PACKAGE_ID: ID,
  SERVICECORE_MAINNET_TREASURY_ID: ID,
  SERVICECORE_MAINNET_OPERATOR_CAP_IDS: ID,
  HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
  CORS_ORIGINS: "https://app.example",
};

describe("the URL of the service's own fullnode", () => {
  it("is a secret, and clients see another URL or none", () => {
    const url = "https://node.example/v2/0123456789abcdef?key=fedcba98";
    const reading = readConfig({ ...MAINNET, SUI_GRPC_URL_MAINNET: url });
    expect(JSON.stringify(reading, jsonOf)).not.toMatch(/0123456789abcdef|fedcba98/);
    expect(reading.secrets.map((secret) => secret.reveal())).toContain(url);
    expect(reading.config.networks[0].address).toMatchObject({ publicFullnodeUrl: undefined });
    const publicFullnodeUrl = "https://fullnode.mainnet.sui.io";
    const config = loadConfig({ ...MAINNET, SUI_GRPC_PUBLIC_URL_MAINNET: publicFullnodeUrl });
    expect(config.networks[0].address).toMatchObject({ publicFullnodeUrl });
  });
});

describe("a URL", () => {
  it.each([
    ["SUI_GRPC_PUBLIC_URL_MAINNET", "https://token@node.example"],
    ["SUI_GRPC_PUBLIC_URL_MAINNET", "https://node.example/?k=hunter22"],
    ["SUI_GRPC_URL_MAINNET", "node.example/hunter22"],
    ["BILLING_PRICE_FEED_URL", "http://prices.example/?k=hunter22"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "collector/hunter22"],
  ])("%s=%s is refused and not quoted", (name, url) => {
    const { faults } = readConfig({ ...MAINNET, [name]: url });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(name);
    expect(faults[0]).not.toMatch(/token|hunter22/);
  });
});

/** JSON has no whole numbers of this type. */
const jsonOf = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
