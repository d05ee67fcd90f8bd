import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadConfig, readConfig } from "../../../../src/service/config/config.ts";

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

describe("several fullnodes", () => {
  const urls = [
    "https://one.example/0123456789abcdef",
    "http://two.example/?k=fedcba98",
    "grpcs://three.example:443",
  ];

  it("are separated by commas, in the order in which they are tried, and each one is a secret", () => {
    const reading = readConfig({ ...MAINNET, SUI_GRPC_URL_MAINNET: urls.join(", ") });
    const { address } = reading.config.networks[0];
    if (address.name === "localnet") throw new Error("the network is mainnet");
    expect([address.fullnodeUrl, ...address.otherFullnodeUrls].map((url) => url.reveal())).toEqual(urls);
    expect(JSON.stringify(reading, jsonOf)).not.toMatch(/0123456789abcdef|fedcba98/);
    for (const url of urls) expect(reading.secrets.map((secret) => secret.reveal())).toContain(url);
  });

  it.each([
    ["one that is no URL", `${urls[0]},node.example/hunter22`],
    ["an empty one", `${urls[0]},,${urls[1]}`],
    ["one of another scheme", "grpcx://node.example/hunter22"],
    ["one without a host", "grpcs:///hunter22"],
    ["none", ","],
  ])("are refused with %s, without quoting it", (_, given) => {
    const { faults } = readConfig({ ...MAINNET, SUI_GRPC_URL_MAINNET: given });
    expect(faults.length).toBeGreaterThan(0);
    expect(faults.join()).toContain("SUI_GRPC_URL_MAINNET");
    expect(faults.join()).not.toMatch(/hunter22|0123456789abcdef/);
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

/** JSON has no bigint. */
const jsonOf = (_name: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
