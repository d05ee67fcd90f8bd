/**
 * `tss doctor --network` on a network with real keys: the requirements of a first run there, and any differences, step
 * by step.
 */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NamedFinding } from "../../src/health/checks/health-check.ts";
import { runNetworkDoctor } from "../../src/health/doctor/network/network-doctor.ts";
import { type Localnet, startLocalnet } from "../../src/localnet/localnet.ts";

const NOBODY = "http://127.0.0.1:1";

let localnet: Localnet;
beforeAll(async () => {
  localnet = await startLocalnet({ hasVersion1Dkg: true });
});
afterAll(() => localnet.close());

const look = () => runNetworkDoctor({ name: "localnet" }, { LOCALNET_URL: localnet.url });
const find = (findings: readonly NamedFinding[], name: string) => findings.find((one) => one.name === name);
const namesWith = (findings: readonly NamedFinding[], status: NamedFinding["status"]) =>
  findings.filter((one) => one.status === status).map(({ name }) => name);

describe("the doctor of a network", () => {
  it("reports the requirements of a first run, and reads the reconfiguration if the DKG output has version 1", async () => {
    const findings = await look();
    expect(findings.filter(({ status }) => status === "fail" || status === "skip")).toEqual([]);
    expect(find(findings, "network keys")?.found).toMatch(
      /^0x[0-9a-f]{64}: its newest reconfiguration is of version 4, its DKG output of version 1$/,
    );
    expect(find(findings, "parameters")?.status).toBe("ok");
    expect(find(findings, "prices")?.found).toContain("Schnorrkel signature 0.01 IKA");
    expect(namesWith(findings, "ok").filter((name) => name.startsWith("dry run"))).toHaveLength(4);
    expect(find(findings, "dry run: presign")?.found).toContain("ECDSASecp256k1, Taproot, ECDSASecp256r1");
  });

  it("names the call that a Treasury without funds cannot pay for", async () => {
    await localnet.controls.setTreasury({ ika: 0n, sui: 0n });
    const findings = await look();
    await localnet.controls.setTreasury({ ika: 10n ** 15n, sui: 10n ** 15n });
    expect(namesWith(findings, "fail")).toEqual(["dry run: key and DKG", "dry run: presign"]);
    expect(find(findings, "dry run: presign")?.found).toMatch(/aborts with code \d+$/);
  });

  it("sends no transaction", async () => {
    const { ledgerService } = new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url });
    const height = async () => (await ledgerService.getServiceInfo({})).response.checkpointHeight;
    const before = await height();
    await look();
    expect(await height()).toBe(before);
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
