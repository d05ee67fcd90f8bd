import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { describeConfig, loadConfig } from "../../src/config.ts";
import { ConfigError } from "../../src/config-reader.ts";

const SHARED = { DATABASE_URL: "postgresql://db/tss", LOCALNET_URL: "http://localnet:9000" };

describe("the configuration", () => {
  it("is whole with an empty environment: localnet, embedded, local only", () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      network: { name: "localnet", port: 9000 },
      databaseUrl: undefined,
      presignLowWaterCount: 2,
      priceSignMicroUsd: 10_000n,
      presignBuckets: [],
    });
  });

  it("names every fault at once, with what was found and what is expected", () => {
    const error = faultsOf({
      PORT: "http",
      PRESIGN_BUCKETS: "SECP256K1/EdDSA",
      LOG_LEVEL: "loud",
      PRESIGN_BATCH_SIZE: "33",
    });
    expect(error).toHaveLength(4);
    expect(error.join("\n")).toMatch(/PORT: expected a whole number from 0 to 65535, found "http"/);
    expect(error.join("\n")).toMatch(/PRESIGN_BUCKETS: expected one of SECP256K1\/ECDSASecp256k1/);
    expect(error.join("\n")).toMatch(/LOG_LEVEL/);
    expect(error.join("\n")).toMatch(/PRESIGN_BATCH_SIZE/);
  });

  it("has one process do all, and takes api and worker only where they have something to share", () => {
    expect(loadConfig({})).toMatchObject({ processType: "all", metricsPort: undefined });
    expect(loadConfig({ METRICS_PORT: "0" }).metricsPort).toBe(0);
    expect(faultsOf({ PROCESS_TYPE: "both", ...SHARED })).toEqual([
      'PROCESS_TYPE: expected one of api, worker, all, found "both"',
    ]);
    for (const processType of ["api", "worker"]) {
      expect(loadConfig({ PROCESS_TYPE: processType, ...SHARED }).processType).toBe(processType);
      expect(faultsOf({ PROCESS_TYPE: processType })).toEqual([
        `DATABASE_URL: expected postgresql://user@host:port/database, with PROCESS_TYPE=${processType}: one process alone can use the embedded database, found nothing`,
        `LOCALNET_URL: expected the URL of a localnet, with PROCESS_TYPE=${processType}: \`tss localnet\` runs one that processes can share, found nothing`,
      ]);
    }
  });

  it("takes a certificate and its key together or not at all", () => {
    expect(loadConfig({}).tls).toBeUndefined();
    expect(loadConfig({ TLS_CERT_FILE: "a.pem", TLS_KEY_FILE: "b.pem" }).tls).toEqual({
      certificateFile: "a.pem",
      keyFile: "b.pem",
    });
    expect(faultsOf({ TLS_CERT_FILE: "a.pem" }).join()).toMatch(/TLS_KEY_FILE: expected a file/);
    expect(faultsOf({ TLS_KEY_FILE: "b.pem" }).join()).toMatch(/TLS_CERT_FILE: expected a file/);
  });

  it("takes deposits on the localnet at fixed prices by itself, elsewhere only as it is told", () => {
    const deposits = (environment: NodeJS.ProcessEnv) => loadConfig(environment).deposits;
    expect(deposits({})).toMatchObject({
      masterSeedHex: undefined,
      minimumMicroUsd: 1_000_000n,
      prices: {
        kind: "fixed",
        picoUsd: new Map([
          ["SUI", 3_500_000_000_000n],
          ["IKA", 20_000_000_000n],
        ]),
      },
    });
    const feed = { BILLING_PRICE_FEED_URL: "https://prices.example/now" };
    expect(deposits(feed).prices).toMatchObject({ kind: "feed", maxAgeMs: 300_000, maxStepPercent: 20 });
    expect(deposits({ ...feed, BILLING_USD_PRICES: "SUI=1" }).prices.kind).toBe("fixed");
    const testnet = { NETWORKS: "testnet", BILLING_DEPOSIT_MASTER_SEED_HEX: "ab".repeat(32) };
    expect(faultsOf(testnet).join()).toMatch(
      /BILLING_USD_PRICES: expected prices, or BILLING_PRICE_FEED_URL/,
    );
    expect(faultsOf({ BILLING_DEPOSIT_MASTER_SEED_HEX: "deadbeef" })).toEqual([
      'BILLING_DEPOSIT_MASTER_SEED_HEX: expected 64 hex digits, found "8 characters"',
    ]);
    expect(faultsOf({ BILLING_PRICE_FEED_URL: "http://prices.example" })).toHaveLength(1);
    expect(deposits({ BILLING_PRICE_FEED_URL: "http://127.0.0.1:80/" }).prices.kind).toBe("feed");
    for (const prices of ["SUI", "SUI=0", "SUI=1,SUI=2", "USDC=1", "SUI=1e3", "0x2::sui=1"]) {
      expect(faultsOf({ BILLING_USD_PRICES: prices })).toHaveLength(1);
    }
  });

  it("takes addresses and CIDR blocks for the trusted proxies, and nothing else", () => {
    const blocks = "10.0.0.0/8, 192.0.2.1,2001:db8::/32, ::1";
    expect(loadConfig({ TRUSTED_PROXIES: blocks }).trustedProxies).toEqual([
      ...["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"],
    ]);
    for (const block of ["10.0.0.0/33", "2001:db8::/129", "10.0.0/8", "proxy.example", "10.0.0.1/", "/8"]) {
      expect(faultsOf({ TRUSTED_PROXIES: `::1, ${block}` })).toEqual([
        `TRUSTED_PROXIES: expected addresses or CIDR blocks, such as 10.0.0.0/8, found "${block}"`,
      ]);
    }
  });

  it("sweeps to a whole Sui address of the network's own, or to none", () => {
    const name = "BILLING_SWEEP_DESTINATION_LOCALNET";
    expect(loadConfig({}).sweeps.destination).toBeUndefined();
    expect(loadConfig({ BILLING_SWEEP_DESTINATION_MAINNET: `0x${"a".repeat(64)}` }).sweeps.destination).toBe(
      undefined,
    );
    expect(loadConfig({ [name]: `0x${"AB".repeat(32)}` }).sweeps.destination).toBe(`0x${"ab".repeat(32)}`);
    for (const wrong of ["0x2", "ab".repeat(32), `0x${"0".repeat(64)}`, `0x${"a".repeat(65)}`])
      expect(faultsOf({ [name]: wrong }).join()).toMatch(
        /BILLING_SWEEP_DESTINATION_LOCALNET: expected a Sui/,
      );
  });

  it("needs a fullnode, a Treasury and a hot wallet outside the localnet", () => {
    const faults = faultsOf({ NETWORKS: "mainnet" }).join("\n");
    for (const name of [
      "HOT_WALLET_SUI_SECRET_HEX",
      "SUI_GRPC_URL_MAINNET",
      "SERVICECORE_MAINNET_PACKAGE_ID",
      "SERVICECORE_MAINNET_TREASURY_ID",
      "SERVICECORE_MAINNET_OPERATOR_CAP_IDS",
    ]) {
      expect(faults).toContain(`${name}: expected`);
    }
  });

  it("never shows a secret, neither in a fault nor in the table nor as text", () => {
    const secret = "deadbeef".repeat(7);
    expect(faultsOf({ HOT_WALLET_SUI_SECRET_HEX: secret }).join("\n")).not.toContain("deadbeef");
    const environment = { HOT_WALLET_SUI_SECRET_HEX: `${secret}deadbeef` };
    expect(describeConfig(environment)).not.toContain("deadbeef");
    const text = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
    expect(JSON.stringify(loadConfig(environment), text)).not.toContain("deadbeef");
  });

  it("takes a secret from a file when `<NAME>_FILE` names one", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "config-"));
    try {
      const file = path.join(folder, "key");
      writeFileSync(file, `${"k".repeat(40)}\n`);
      expect(loadConfig({ ADMIN_API_KEY_FILE: file }).adminApiKey?.reveal()).toBe("k".repeat(40));
      expect(faultsOf({ ADMIN_API_KEY_FILE: path.join(folder, "none") }).join()).toContain("a readable file");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

function faultsOf(environment: NodeJS.ProcessEnv): readonly string[] {
  try {
    loadConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
  }
  throw new Error("expected the configuration to be refused");
}
