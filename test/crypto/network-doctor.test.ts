/**
 * `tss doctor --network` on a network with real keys: the requirements of a first run there, and any differences, step
 * by step.
 */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";
import { CURVES } from "../../src/protocol/algorithms.ts";
import type { NamedFinding } from "../../src/service/operator/health/checks/health-check.ts";
import { runNetworkDoctor } from "../../src/service/operator/health/doctor/network/network-doctor.ts";

const NOBODY = "http://127.0.0.1:1";

let localnet: Localnet;
/** The findings of a first look, and the heights of the chain before and after it. */
let findings: readonly NamedFinding[];
let heights: unknown[];
beforeAll(async () => {
  localnet = await startLocalnet({ hasVersion1Dkg: true });
  const { ledgerService } = new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url });
  const height = async () => (await ledgerService.getServiceInfo({})).response.checkpointHeight;
  const before = await height();
  findings = await look({ PRESIGN_BATCH_SIZE: "3", BILLING_USD_PRICES: "SUI=1,IKA=0.01" });
  heights = [before, await height()];
});
afterAll(() => localnet.close());

const look = (settings: Record<string, string> = {}) =>
  runNetworkDoctor({ name: "localnet" }, { LOCALNET_URL: localnet.url, ...settings });
const find = (findings: readonly NamedFinding[], name: string) => findings.find((one) => one.name === name);
const namesWith = (findings: readonly NamedFinding[], status: NamedFinding["status"]) =>
  findings.filter((one) => one.status === status).map(({ name }) => name);

describe("the doctor of a network", () => {
  it("reports the requirements of a first run, and reads the reconfiguration if the DKG output has version 1", () => {
    expect(findings.filter(({ status }) => status === "fail" || status === "skip")).toEqual([]);
    expect(find(findings, "network keys")?.found).toMatch(
      /^0x[0-9a-f]{64}: its newest reconfiguration is of version 4, its DKG output of version 1$/,
    );
    const parameters = find(findings, "parameters");
    expect(parameters?.status).toBe("ok");
    for (const curve of CURVES) expect(parameters?.found).toMatch(new RegExp(`${curve} 45\\d{3} bytes`));
    expect(find(findings, "prices")?.found).toContain("Schnorrkel signature 0.01 IKA");
  });

  it("dry-runs DKGs of the client's own cryptography and full batches of presigns, and says what they use", () => {
    const dkg = find(findings, "dry run: key and DKG");
    // The lengths of real messages: a DKG has thousands of bytes, and more on the curves with longer points.
    expect(dkg).toMatchObject({
      status: "ok",
      found: expect.stringMatching(/SECP256K1 [\d.]+ SUI of gas, 3888 bytes/),
    });
    expect(dkg?.found).toMatch(/RISTRETTO 0\.\d+ SUI of gas, 3829 bytes, 13 new objects, 4 events/);
    const presigns = find(findings, "dry run: presign");
    expect(presigns?.found).toMatch(
      /^the Treasury pays for batches of 3: ECDSASecp256k1 .*; Taproot .*; ECDSASecp256r1 /,
    );
    expect(presigns?.found).toContain("27 new objects, 9 events");
    expect(find(findings, "dry run: share")?.status).toBe("ok");
    expect(find(findings, "dry run: signature")).toMatchObject({
      status: "info",
      found: expect.stringContaining("run `tss try`, then check again"),
    });
  });

  it("finds that the service's prices cover the network's fees", () => {
    expect(find(findings, "own prices")).toMatchObject({
      status: "ok",
      found: expect.stringContaining("a signature with EdDSA costs $0.00615 and is charged at $0.01"),
    });
  });

  it("sends no transaction", () => {
    expect(heights[1]).toBe(heights[0]);
  });

  it("names the call that a Treasury without funds cannot pay for, and the prices below the network's fees", async () => {
    await localnet.controls.setTreasury({ ika: 0n, sui: 0n });
    const poor = await look({ BILLING_USD_PRICES: "SUI=3.5,IKA=0.02" });
    await localnet.controls.setTreasury({ ika: 10n ** 15n, sui: 10n ** 15n });
    expect(namesWith(poor, "fail")).toEqual(["dry run: key and DKG", "dry run: presign"]);
    expect(find(poor, "dry run: presign")?.found).toMatch(/aborts with code \d+$/);
    const own = find(poor, "own prices");
    expect(own).toMatchObject({
      status: "warn",
      advice: expect.stringContaining("BILLING_PRICE_SIGN_MICRO_USD"),
    });
    expect(own?.found).toContain("a signature with EdDSA costs $0.0213 and is charged at $0.01");
    expect(own?.found).not.toContain("a DKG");
  });

  it("stops at a chain that is not the network's", async () => {
    const findings = await runNetworkDoctor({ name: "testnet", fullnodeUrl: localnet.url }, {});
    expect(namesWith(findings, "fail")).toEqual(["chain"]);
    expect(namesWith(findings, "ok")).toEqual(["fullnode"]);
    expect(find(findings, "coordinator")?.found).toBe("not checked: the fullnode serves another chain");
  });

  it("reads the given fullnode, and shows only the host of its URL", async () => {
    const fullnodeUrl = `http://reader:hunter-two@127.0.0.1:1/v1/0123456789abcdef`;
    const findings = await runNetworkDoctor({ name: "mainnet", fullnodeUrl }, {});
    expect(find(findings, "fullnode")).toMatchObject({ status: "fail" });
    expect(find(findings, "fullnode")?.found).toMatch(/^127.0.0.1:1 does not answer/);
    expect(new Set(findings.slice(1).map(({ status }) => status))).toEqual(new Set(["skip"]));
    expect(JSON.stringify(findings)).not.toMatch(/hunter-two|0123456789abcdef/);
  });

  it("reports a URL without a localnet", async () => {
    const findings = await runNetworkDoctor({ name: "localnet" }, { LOCALNET_URL: NOBODY });
    expect(findings).toMatchObject([{ name: "network", status: "fail" }]);
    expect(findings[0]?.found).toContain(NOBODY);
  });
});
