import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, describe, expect, it } from "vitest";
import { toText } from "../../../../src/cli/describe-config.ts";
import {
  LOCALNET_SEED,
  localnetDepositSeed,
  localnetHotWalletSecret,
} from "../../../../src/localnet/seed.ts";
import { loadConfig, readConfig } from "../../../../src/service/config/config.ts";
import { ConfigError } from "../../../../src/service/config/variables/config-variable.ts";

const folder = mkdtempSync(path.join(tmpdir(), "config-"));
afterAll(() => rmSync(folder, { recursive: true }));
const fileWith = (name: string, content: string): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

const SHARED = { DATABASE_URL: "postgresql://db/tss", LOCALNET_URL: "http://localnet:9000" };

describe("the configuration", () => {
  it("is complete with an empty environment: localnet, embedded, local only", () => {
    const config = loadConfig({});
    expect(config).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      databaseUrl: undefined,
      networks: [
        {
          name: "localnet",
          address: { name: "localnet", port: 9000 },
          presignLowWaterCount: 2,
          prices: {
            signMicroUsd: 10_000n,
            signByAlgorithmMicroUsd: new Map(),
            messageKibMicroUsd: 6_000n,
            dkgMicroUsd: 20_000n,
            importMicroUsd: 20_000n,
            holdMicroUsd: 10_000n,
          },
          presignBuckets: [],
        },
      ],
    });
  });

  it("names every fault at once, with the found and the expected value", () => {
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

  it("accepts both spellings of Schnorrkel, and refuses by name an algorithm with presigns of version 3", () => {
    const [older, newer] = ["RISTRETTO/SchnorrkelSubstrate", "RISTRETTO/Schnorrkel"].map(
      (PRESIGN_BUCKETS) => loadConfig({ PRESIGN_BUCKETS }).networks[0].presignBuckets,
    );
    expect(older).toEqual(newer);
    expect(older).toMatchObject([
      { signatureAlgorithm: "Schnorrkel", curveNumber: 3, signatureAlgorithmNumber: 0 },
    ]);
    expect(faultsOf({ PRESIGN_BUCKETS: "ED25519/EdDSAVSS" }).join()).toContain("EdDSAVSS is not supported");
  });

  it("has one process for everything by default, and accepts api and worker only with shared stores", () => {
    expect(loadConfig({})).toMatchObject({ processType: "all", metricsPort: undefined });
    expect(loadConfig({ METRICS_PORT: "0" }).metricsPort).toBe(0);
    // The quick start needs no key for its metrics.
    expect(loadConfig({}).isMetricsPublic).toBe(true);
    expect(loadConfig({ METRICS_PUBLIC: "false" }).isMetricsPublic).toBe(false);
    expect(loadConfig({ DATABASE_URL: "postgresql://tss@127.0.0.1/tss" }).isMetricsPublic).toBe(false);
    expect(faultsOf({ PROCESS_TYPE: "both", ...SHARED })).toEqual([
      'PROCESS_TYPE: expected one of api, worker, all, found "both"',
    ]);
    for (const processType of ["api", "worker"]) {
      expect(loadConfig({ PROCESS_TYPE: processType, ...SHARED }).processType).toBe(processType);
      expect(faultsOf({ PROCESS_TYPE: processType })).toEqual([
        `DATABASE_URL: expected postgresql://user@host:port/database, with PROCESS_TYPE=${processType}: only one process can use the embedded database, found nothing`,
        `LOCALNET_URL: expected the URL of a localnet, with PROCESS_TYPE=${processType}: \`tss localnet\` runs a shared one, found nothing`,
      ]);
    }
  });

  it("accepts a certificate and its key together or not at all", () => {
    expect(loadConfig({}).tls).toBeUndefined();
    const [certificateFile, keyFile] = [fileWith("a.pem", "certificate"), fileWith("b.pem", "key")];
    expect(loadConfig({ TLS_CERT_FILE: certificateFile, TLS_KEY_FILE: keyFile }).tls).toEqual({
      certificateFile,
      keyFile,
    });
    expect(faultsOf({ TLS_CERT_FILE: certificateFile }).join()).toMatch(/TLS_KEY_FILE: expected a file/);
    expect(faultsOf({ TLS_KEY_FILE: keyFile }).join()).toMatch(/TLS_CERT_FILE: expected a file/);
    const missing = { TLS_CERT_FILE: "none.pem", TLS_KEY_FILE: "none.pem" };
    expect(faultsOf(missing)).toEqual([
      'TLS_CERT_FILE: expected a readable file, found TLS_CERT_FILE="none.pem" (ENOENT)',
      'TLS_KEY_FILE: expected a readable file, found TLS_KEY_FILE="none.pem" (ENOENT)',
    ]);
  });

  it("accepts addresses and CIDR blocks as trusted proxies, and nothing else", () => {
    const blocks = "10.0.0.0/8, 192.0.2.1,2001:db8::/32, ::1";
    expect(loadConfig({ TRUSTED_PROXIES: blocks }).trustedProxies).toEqual([
      ...["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1"],
    ]);
    for (const block of [
      "10.0.0.0/33",
      "2001:db8::/129",
      "10.0.0/8",
      "proxy.example",
      "10.0.0.1/",
      "/8",
      "::ffff:10.0.0.0/40",
    ]) {
      expect(faultsOf({ TRUSTED_PROXIES: `::1, ${block}` })).toEqual([
        `TRUSTED_PROXIES: expected addresses or CIDR blocks, such as 10.0.0.0/8, found "${block}"`,
      ]);
    }
  });

  it("accepts a readable URL of the database, and otherwise explains what may be wrong", () => {
    const faults = faultsOf({ DATABASE_URL: "postgresql://tss:won/der@db/tss" });
    expect(faults.join()).toMatch(/^DATABASE_URL: .*percent-encoded password, found 31 characters$/);
    expect(faultsOf({ REDIS_URL: "redis://:won/der@cache" })).toHaveLength(1);
    const socket = "postgresql:///tss?host=/var/run/postgresql";
    expect(loadConfig({ DATABASE_URL: socket }).databaseUrl?.reveal()).toBe(socket);
  });

  it("requires no settings of a network that is not served", () => {
    expect(faultsOf({ NETWORKS: "testnt" })).toEqual([
      'NETWORKS: expected one of localnet, testnet, mainnet, found "testnt"',
    ]);
  });

  it("sweeps to a full Sui address of the network's own, or to none", () => {
    const name = "BILLING_SWEEP_DESTINATION_LOCALNET";
    expect(loadConfig({}).networks[0].sweeps.destination).toBeUndefined();
    expect(
      loadConfig({ BILLING_SWEEP_DESTINATION_MAINNET: `0x${"a".repeat(64)}` }).networks[0].sweeps.destination,
    ).toBe(undefined);
    expect(loadConfig({ [name]: `0x${"AB".repeat(32)}` }).networks[0].sweeps.destination).toBe(
      `0x${"ab".repeat(32)}`,
    );
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
    const faults = faultsOf({ HOT_WALLET_SUI_SECRET_HEX: secret });
    expect(faults).toEqual(["HOT_WALLET_SUI_SECRET_HEX: expected 64 hex digits, found 56 characters"]);
    const reading = readConfig({ HOT_WALLET_SUI_SECRET_HEX: `${secret}deadbeef` });
    expect(toText(reading)).not.toContain("deadbeef");
    const plain = (_: string, value: unknown) => (typeof value === "bigint" ? value.toString() : value);
    expect(JSON.stringify(reading.config, plain)).not.toContain("deadbeef");
    expect(reading.secrets.map((read) => read.reveal())).toEqual([`${secret}deadbeef`]);
  });

  it("redacts a text that looks like a secret in other variables, in faults and the table", () => {
    const key = `tss_live_${"k".repeat(32)}`;
    const reading = readConfig({ PORT: key, LOCALNET_URL: "http://user:password@host" });
    const text = toText(reading);
    expect(text).not.toContain(key);
    expect(text).not.toContain("password");
    expect(reading.faults.join()).toContain("tss_live_[redacted]");
  });

  it("reads a secret from the file that `<NAME>_FILE` names, and refuses two sources", () => {
    const file = fileWith("key", `${"k".repeat(40)}\n`);
    expect(loadConfig({ ADMIN_API_KEY_FILE: file }).adminApiKey?.reveal()).toBe("k".repeat(40));
    expect(faultsOf({ ADMIN_API_KEY_FILE: path.join(folder, "none") }).join()).toContain("a readable file");
    expect(faultsOf({ ADMIN_API_KEY_FILE: fileWith("empty", "\n") }).join()).toContain("an empty file");
    expect(faultsOf({ ADMIN_API_KEY_FILE: file, ADMIN_API_KEY: "l".repeat(40) })).toEqual([
      "ADMIN_API_KEY: expected one of them, found both ADMIN_API_KEY and ADMIN_API_KEY_FILE",
    ]);
  });

  it("shows the source of each variable's value", () => {
    const file = fileWith("key", "k".repeat(40));
    const { settings } = readConfig({ PORT: "4000", ADMIN_API_KEY_FILE: file });
    const setting = (name: string) => settings.find((one) => one.name === name);
    expect(setting("PORT")).toMatchObject({ value: "4000", source: "environment" });
    expect(setting("HOST")).toMatchObject({ value: "127.0.0.1", source: "default" });
    expect(setting("PRESIGN_POOL_LOW_WATER")).toMatchObject({ value: "2", source: "default" });
    expect(setting("ADMIN_API_KEY")).toMatchObject({ value: "[redacted]", source: "file", file });
    expect(setting("REDIS_URL")).toMatchObject({ value: undefined, source: "unset" });
  });

  it("prints a value on its own line, without control characters", () => {
    const text = toText(readConfig({ OTEL_SERVICE_NAME: "a\nfaults:\n  - \u001b[31mnone" }));
    expect(text).not.toMatch(/^faults/m);
    expect(text).not.toContain("\u001b");
  });

  it("prints the table even with faults, and warnings and faults after it", () => {
    const text = toText(readConfig({ PORT: "http", RATE_LIMIT_READS_PER_SECOND: "5" }));
    expect(text).toMatch(/^HOST +127\.0\.0\.1 +default/);
    expect(text).toMatch(/warnings:\n {2}- RATE_LIMIT_READS_PER_SECOND[\s\S]*faults:\n {2}- PORT: expected/);
  });
});

describe("an address that others can reach", () => {
  it.each(["0.0.0.0", "::", "[::]", "192.168.1.4", "2001:db8::1", "::ffff:10.0.0.1", "signing.example"])(
    "like %s is refused without TLS, and the fault names the remedy",
    (HOST) => {
      expect(faultsOf({ HOST })).toEqual([
        "HOST: expected a loopback address, or TLS_CERT_FILE and TLS_KEY_FILE, or ALLOW_PUBLIC_PLAINTEXT=true behind " +
          `a proxy that terminates TLS, found "${HOST}"`,
      ]);
    },
  );

  it("is accepted with a certificate, or with a warning if TLS ends at a proxy", () => {
    const HOST = "0.0.0.0";
    const tls = { TLS_CERT_FILE: fileWith("a.pem", "a"), TLS_KEY_FILE: fileWith("b.pem", "b") };
    expect(readConfig({ HOST, ...tls })).toMatchObject({ faults: [], warnings: [] });
    const allowed = readConfig({ HOST, ALLOW_PUBLIC_PLAINTEXT: "true" });
    expect(allowed.faults).toEqual([]);
    expect(allowed.warnings.join()).toContain("clear text");
    expect(faultsOf({ HOST, ALLOW_PUBLIC_PLAINTEXT: "yes" })).toHaveLength(2);
  });

  it.each(["127.0.0.1", "127.1.2.3", "::1", "[::1]", "localhost", "::ffff:127.0.0.1"])(
    "does not include %s",
    (HOST) => {
      expect(readConfig({ HOST })).toMatchObject({ faults: [], warnings: [] });
    },
  );
});

describe("on a network with value", () => {
  const id = `0x${"1".repeat(64)}`;
  const secret = randomBytes(32).toString("hex");
  const MAINNET = {
    NETWORKS: "mainnet",
    SUI_GRPC_URL_MAINNET: "https://fullnode.example",
    SERVICECORE_MAINNET_PACKAGE_ID: id,
    SERVICECORE_MAINNET_TREASURY_ID: id,
    SERVICECORE_MAINNET_OPERATOR_CAP_IDS: id,
    HOT_WALLET_SUI_SECRET_HEX: secret,
    CORS_ORIGINS: "https://app.example",
  };

  it("strong secrets are accepted", () => {
    const more = {
      ADMIN_API_KEY: randomBytes(24).toString("base64url"),
      GAS_STATION_MAINNET_SECRET_HEX: secret,
    };
    expect(readConfig({ ...MAINNET, ...more })).toMatchObject({ faults: [], warnings: [] });
  });

  it.each([
    ["the localnet's hot wallet", bytesToHex(localnetHotWalletSecret())],
    ["the localnet's hot wallet in capitals", bytesToHex(localnetHotWalletSecret()).toUpperCase()],
    ["the localnet's seed", bytesToHex(LOCALNET_SEED)],
    ["the localnet's deposit seed", bytesToHex(localnetDepositSeed())],
    ["zeros", "00".repeat(32)],
    ["one byte again and again", "ab".repeat(32)],
    ["a pattern", "0123456789abcdef".repeat(4)],
    ["a row of numbers", bytesToHex(Uint8Array.from({ length: 32 }, (_, at) => at))],
  ])("%s is refused as any key, and all faults are reported at once", (_name, weak) => {
    const faults = faultsOf({
      ...MAINNET,
      HOT_WALLET_SUI_SECRET_HEX: weak,
      GAS_STATION_MAINNET_SECRET_HEX: weak,
    });
    expect(faults).toHaveLength(2);
    expect(faults.join()).toMatch(/HOT_WALLET_SUI_SECRET_HEX: expected .* on mainnet/);
    expect(faults.join()).not.toContain(weak);
    expect(readConfig({ HOT_WALLET_SUI_SECRET_HEX: weak }).faults).toEqual([]);
  });

  it("the localnet's deposit seed is refused as the seed of deposit addresses", () => {
    const faults = faultsOf({
      ...MAINNET,
      BILLING_DEPOSIT_MASTER_SEED_HEX: bytesToHex(localnetDepositSeed()),
    });
    expect(faults.join()).toMatch(
      /BILLING_DEPOSIT_MASTER_SEED_HEX: expected a secret of your own on mainnet/,
    );
  });

  it("a guessable operator's key, or one of a localnet, is refused", () => {
    for (const ADMIN_API_KEY of ["a".repeat(40), `tss_local_${"0aB9".repeat(8)}`]) {
      expect(faultsOf({ ...MAINNET, ADMIN_API_KEY }).join()).toMatch(/ADMIN_API_KEY: expected a random key/);
    }
  });

  it("a warning reports that any page may call the service", () => {
    expect(readConfig({ ...MAINNET, CORS_ORIGINS: "*" }).warnings.join()).toContain("CORS_ORIGINS");
  });
});

describe("a variable outside of the table", () => {
  it("is named with the variable that was probably meant, without its value", () => {
    const { warnings } = readConfig({
      RATE_LIMIT_READS_PER_SECOND: "hidden",
      BILING_PRICE_SIGN_MICRO_USD: "hidden",
      NETWORK: "testnet",
      BILLING_UNHEARD_OF: "hidden",
    });
    expect(warnings).toEqual([
      "BILING_PRICE_SIGN_MICRO_USD is not a variable of this service; did you mean BILLING_PRICE_SIGN_MICRO_USD?",
      "BILLING_UNHEARD_OF is not a variable of this service and has no effect",
      "NETWORK is not a variable of this service; did you mean NETWORKS?",
      "RATE_LIMIT_READS_PER_SECOND is not a variable of this service; did you mean RATE_LIMIT_READ_PER_SECOND?",
    ]);
  });

  it("is ignored if it belongs to another program", () => {
    const others = {
      PATH: "/bin",
      HOME: "/",
      HOSTNAME: "x",
      POST: "1",
      OTEL_LOG_LEVEL: "x",
      PGHOST: "x",
      CI: "1",
    };
    expect(readConfig(others).warnings).toEqual([]);
  });
});

describe("traces", () => {
  const OTEL_EXPORTER_OTLP_ENDPOINT = "http://collector:4318";

  it("are off without a receiver, and follow the caller with one", () => {
    expect(loadConfig({ OTEL_TRACES_SAMPLER_ARG: "0.5" }).tracing).toBeUndefined();
    const { tracing } = loadConfig({ OTEL_EXPORTER_OTLP_ENDPOINT });
    expect(tracing?.endpoint.reveal()).toBe(OTEL_EXPORTER_OTLP_ENDPOINT);
    expect(tracing).toMatchObject({
      serviceName: "threshold-signing-service",
      sampledShare: 1,
      followsCaller: true,
    });
  });

  it.each([
    ["parentbased_traceidratio", "0.25", 0.25, true],
    ["traceidratio", ".5", 0.5, false],
    ["always_on", "0", 1, false],
    ["parentbased_always_off", "1", 0, true],
  ])(
    "are sampled by %s of %s",
    (OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, sampledShare, followsCaller) => {
      const environment = { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG };
      expect(loadConfig(environment).tracing).toMatchObject({ sampledShare, followsCaller });
    },
  );

  it("with wrong settings are refused without quoting the headers", () => {
    const faults = faultsOf({
      OTEL_EXPORTER_OTLP_ENDPOINT: "collector",
      OTEL_EXPORTER_OTLP_HEADERS: "hidden",
      OTEL_TRACES_SAMPLER: "some",
      OTEL_TRACES_SAMPLER_ARG: "1.5",
    });
    expect(faults).toHaveLength(4);
    expect(faults.join()).not.toContain("hidden");
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
