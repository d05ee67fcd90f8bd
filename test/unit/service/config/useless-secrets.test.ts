import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readConfig } from "../../../../src/service/config/config.ts";

describe("the secrets of a type of process", () => {
  const id = `0x${"ab".repeat(32)}`;
  const testnet = {
    NETWORKS: "testnet",
    DATABASE_URL: "postgresql://db/tss",
    CORS_ORIGINS: "https://a.example",
    SUI_GRPC_URL_TESTNET: "https://fullnode.example",
    SERVICECORE_TESTNET_PACKAGE_ID: id,
    SERVICECORE_TESTNET_TREASURY_ID: id,
    SERVICECORE_TESTNET_OPERATOR_CAP_IDS: id,
  };
  const random = () => randomBytes(32).toString("hex");

  it("an api process starts without the keys that it does not need, and ignores and names those that it gets", () => {
    const bare = readConfig({ ...testnet, PROCESS_TYPE: "api" });
    expect([bare.faults, bare.warnings]).toEqual([[], []]);
    const given = {
      HOT_WALLET_SUI_SECRET_HEX_TESTNET: random(),
      GAS_STATION_TESTNET_SECRET_HEX_FILE: "/nothing/there",
      BILLING_DEPOSIT_MASTER_SEED_HEX: random(),
      AUDIT_SEAL_SECRET_HEX: random(),
    };
    const { config, faults, warnings, secrets } = readConfig({ ...testnet, PROCESS_TYPE: "api", ...given });
    expect(faults).toEqual([]);
    expect(warnings).toHaveLength(4);
    for (const name of Object.keys(given)) expect(warnings.join("\n")).toContain(`${name} is set`);
    expect(config.networks[0]).toMatchObject({
      hotWalletSecretHex: undefined,
      gasStationSecretHex: undefined,
      deposits: { masterSeedHex: undefined },
    });
    expect(config.auditSealSecretHex).toBeUndefined();
    // The log must still not show them.
    expect(secrets.map((one) => one.reveal())).toContain(given.HOT_WALLET_SUI_SECRET_HEX_TESTNET);
    const local = readConfig({
      PROCESS_TYPE: "api",
      DATABASE_URL: "postgresql://db/tss",
      LOCALNET_URL: "http://localnet:9000",
    }).config;
    expect(local.networks[0].hotWalletSecretHex).toBeUndefined();
  });

  it("a worker ignores and names the admin key, and needs the hot wallet", () => {
    const environment = { ...testnet, PROCESS_TYPE: "worker", ADMIN_API_KEY: random() };
    const { config, faults, warnings } = readConfig(environment);
    expect(faults).toEqual(["HOT_WALLET_SUI_SECRET_HEX: expected 64 hex digits, on testnet, found nothing"]);
    expect(config.adminApiKey).toBeUndefined();
    expect(warnings.join()).toContain("ADMIN_API_KEY is set, and a process with PROCESS_TYPE=worker");
    expect(readConfig({ ADMIN_API_KEY: random() }).warnings).toEqual([]);
  });
});
