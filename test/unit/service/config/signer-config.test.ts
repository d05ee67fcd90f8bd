import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadSignerConfig } from "../../../../src/service/config/config.ts";
import { SIGNER_VARIABLES } from "../../../../src/service/config/variables/signer-variables.ts";
import { readSource } from "../../../support/repository/source-files.ts";

const port = { SIGNER_PORT: "8000", SIGNER_TOKEN_FILE: "/run/token" };
const pem = path.join(tmpdir(), "tss-signer-config.pem");
writeFileSync(pem, "a certificate");
const tls = { SIGNER_TLS_CERT_FILE: pem, SIGNER_TLS_KEY_FILE: pem };

const vault = { SIGNER_VAULT_URL: "https://vault.example:8200", SIGNER_VAULT_TOKEN_FILE: "/run/vault" };

describe("a signer", () => {
  it("listens on a socket alone by default", () => {
    expect(loadSignerConfig({})).toMatchObject({
      store: { kind: "file", file: "signer-keys.sealed" },
      seal: { kind: "passphrase" },
      masterSeed: undefined,
      vault: undefined,
      accessFile: undefined,
      socketPath: "signer.sock",
      port: undefined,
      service: undefined,
    });
    expect(() => loadSignerConfig({ SIGNER_SOCKET: "off" })).toThrow("SIGNER_PORT");
  });

  it("never has a port without a token", () => {
    expect(() => loadSignerConfig({ SIGNER_PORT: "8000" })).toThrow("SIGNER_TOKEN_FILE: expected a file");
    expect(() => loadSignerConfig({ ...tls, SIGNER_PORT: "8000", SIGNER_HOST: "0.0.0.0" })).toThrow(
      "SIGNER_TOKEN_FILE",
    );
  });

  it.each(["127.0.0.1", "::1", "localhost", "127.8.8.8"])("may listen on %s in clear text", (host) => {
    expect(loadSignerConfig({ ...port, SIGNER_HOST: host }).port).toMatchObject({ host, tls: undefined });
  });

  it.each(["0.0.0.0", "::", "10.0.0.7", "signer.internal", "::ffff:10.0.0.7"])(
    "listens on %s with TLS alone",
    (host) => {
      expect(() => loadSignerConfig({ ...port, SIGNER_HOST: host })).toThrow(
        "SIGNER_HOST: expected a loopback",
      );
      const half = { ...port, SIGNER_HOST: host, SIGNER_TLS_CERT_FILE: pem };
      expect(() => loadSignerConfig(half)).toThrow("SIGNER_TLS_KEY_FILE");
      expect(loadSignerConfig({ ...port, ...tls, SIGNER_HOST: host }).port?.tls).toEqual({
        certificateFile: pem,
        keyFile: pem,
      });
    },
  );

  it("sends its API key to another machine over https alone, and names what the service's URL needs", () => {
    const service = { SIGNER_API_KEY_FILE: "/run/key", SIGNER_NETWORK: "testnet" };
    expect(() => loadSignerConfig({ ...service, SIGNER_SERVICE_URL: "http://tss.example" })).toThrow("https");
    expect(loadSignerConfig({ ...service, SIGNER_SERVICE_URL: "https://tss.example" }).service).toEqual({
      url: "https://tss.example",
      apiKeyFile: "/run/key",
      network: "testnet",
    });
    const failure = () => loadSignerConfig({ SIGNER_SERVICE_URL: "http://127.0.0.1:3000" });
    expect(failure).toThrow("SIGNER_API_KEY_FILE");
    expect(failure).toThrow("SIGNER_NETWORK");
  });

  it("reads who may call from a file instead of one token for all", () => {
    const access = { SIGNER_PORT: "8000", SIGNER_ACCESS_FILE: "/run/callers" };
    expect(loadSignerConfig(access)).toMatchObject({
      accessFile: "/run/callers",
      port: { tokenFile: undefined },
    });
    expect(() => loadSignerConfig({ ...access, ...port })).toThrow("SIGNER_TOKEN_FILE: expected no file");
    expect(() => loadSignerConfig({ ...port, SIGNER_TLS_CLIENT_CA_FILE: pem })).toThrow(
      "SIGNER_TLS_CERT_FILE",
    );
    expect(
      loadSignerConfig({ ...port, ...tls, SIGNER_TLS_CLIENT_CA_FILE: pem }).port?.tls?.clientCaFile,
    ).toBe(pem);
  });

  it("keeps seeds in memory with a master seed alone, which it removes from its environment", () => {
    expect(() => loadSignerConfig({ SIGNER_STORE: "memory" })).toThrow("SIGNER_MASTER_SEED_FILE");
    const hex = "0f".repeat(32);
    const environment: Record<string, string> = { SIGNER_STORE: "memory", SIGNER_MASTER_SEED_HEX: hex };
    const { masterSeed } = loadSignerConfig(environment);
    expect(masterSeed?.kind === "value" && masterSeed.hex.reveal()).toBe(hex);
    expect(JSON.stringify(masterSeed)).not.toContain(hex);
    expect(environment).toEqual({ SIGNER_STORE: "memory" });
    const wrong = { SIGNER_MASTER_SEED_HEX: "0f0f" };
    expect(() => loadSignerConfig(wrong)).toThrow(/^(?!.*0f0f).*64 hex digits/s);
    expect(wrong).toEqual({});
    const both = { SIGNER_MASTER_SEED_FILE: "/run/seed", SIGNER_MASTER_SEED_HEX: hex };
    expect(() => loadSignerConfig(both)).toThrow("SIGNER_MASTER_SEED_HEX: expected no value");
  });

  it.each([
    ["aws-kms:alias/signer", { kind: "aws-kms", key: "alias/signer" }],
    ["gcp-kms:projects/p/locations/l/keyRings/r/cryptoKeys/k", { kind: "gcp-kms" }],
    ["vault-transit:transit/signer", { kind: "vault-transit", mount: "transit", key: "signer" }],
  ])("seals with %s", (seal, expected) => {
    expect(loadSignerConfig({ ...vault, SIGNER_SEAL: seal }).seal).toMatchObject(expected);
  });

  it.each(["aws-kms:", "gcp-kms:k", "vault-transit:key", "none"])("refuses the seal %s", (seal) => {
    expect(() => loadSignerConfig({ SIGNER_SEAL: seal })).toThrow(
      "SIGNER_SEAL: expected passphrase, aws-kms",
    );
  });

  it("sends Vault's token to another machine over https alone, and names what Vault needs", () => {
    const store = { SIGNER_STORE: "vault:secret/team/signer" };
    expect(loadSignerConfig({ ...store, ...vault })).toMatchObject({
      store: { kind: "vault", mount: "secret", path: "team/signer" },
      vault: { url: "https://vault.example:8200", login: { kind: "token", file: "/run/vault" } },
    });
    const { SIGNER_VAULT_URL: _, ...without } = vault;
    expect(() => loadSignerConfig({ ...store, ...without })).toThrow("SIGNER_VAULT_URL");
    for (const url of ["http://vault.example:8200", "https://vault.example/v1", "https://u:p@vault.example"])
      expect(() => loadSignerConfig({ ...store, ...vault, SIGNER_VAULT_URL: url }), url).toThrow(
        "SIGNER_VAULT_URL",
      );
    const both = { ...store, ...vault, SIGNER_VAULT_ROLE: "signer" };
    expect(() => loadSignerConfig(both)).toThrow("SIGNER_VAULT_TOKEN_FILE");
    for (const place of ["vault:secret", "vault:secret/../x", "vault:/x", "vault:secret/a b"])
      expect(() => loadSignerConfig({ ...vault, SIGNER_STORE: place }), place).toThrow("SIGNER_STORE");
  });

  it("serves Ethereum's JSON-RPC for a chain that is named, and never for one that its node names", () => {
    expect(loadSignerConfig({}).ethereum).toBeUndefined();
    expect(() => loadSignerConfig({ SIGNER_ETHEREUM_URL: "https://node.example/key" })).toThrow(
      "SIGNER_ETHEREUM_CHAIN_ID",
    );
    expect(() => loadSignerConfig({ SIGNER_ETHEREUM_SOCKET: "ethereum.ipc" })).toThrow(
      "SIGNER_ETHEREUM_CHAIN_ID",
    );
    const { ethereum } = loadSignerConfig({
      SIGNER_ETHEREUM_CHAIN_ID: "5",
      SIGNER_ETHEREUM_SOCKET: "ethereum.ipc",
      SIGNER_ETHEREUM_URL: "https://node.example/key",
    });
    expect(ethereum).toMatchObject({ chainId: 5, maxFeeWei: 10n ** 17n, socketPath: "ethereum.ipc" });
    expect(JSON.stringify(ethereum?.url)).not.toContain("node.example");
  });

  it("has a guide with each of its variables", () => {
    const pages = ["signer", "signer-stores", "signer-callers"].map(
      (name) => readSource(`docs/${name}.md`).text,
    );
    const documented = [...pages.join("\n").matchAll(/^\| `([A-Z_]{8,})` \|/gm)].map(([, name]) => name);
    expect(documented.sort()).toEqual(SIGNER_VARIABLES.map(({ name }) => name).sort());
  });
});
