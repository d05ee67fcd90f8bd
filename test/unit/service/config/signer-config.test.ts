import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadSignerConfig } from "../../../../src/service/config/config.ts";
import { SIGNER_VARIABLES } from "../../../../src/service/config/signer-variables.ts";
import { readSource } from "../../../support/repository/source-files.ts";

const port = { SIGNER_PORT: "8000", SIGNER_TOKEN_FILE: "/run/token" };
const pem = path.join(tmpdir(), "tss-signer-config.pem");
writeFileSync(pem, "a certificate");
const tls = { SIGNER_TLS_CERT_FILE: pem, SIGNER_TLS_KEY_FILE: pem };

describe("a signer", () => {
  it("listens on a socket alone by default", () => {
    expect(loadSignerConfig({})).toMatchObject({
      store: "signer-keys.sealed",
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
    const { text } = readSource("docs/signer.md");
    const documented = [...text.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
    expect(documented).toEqual(SIGNER_VARIABLES.map(({ name }) => name));
  });
});
