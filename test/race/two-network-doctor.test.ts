/** `tss doctor` on two networks, one of which cannot be reached, on a real PostgreSQL. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTss } from "../../src/cli/run-tss.ts";
import type { NamedFinding } from "../../src/service/operator/health/checks/health-check.ts";
import { type PosingNetwork, posingEnvironment, posingNetwork } from "../support/chain/two-networks.ts";
import { testDatabase } from "../support/database/postgres.ts";

const postgres = await testDatabase();
const folder = mkdtempSync(path.join(tmpdir(), "tss-doctor-"));

describe.skipIf(postgres === undefined)("the doctor of two networks", () => {
  let networks: PosingNetwork[];
  beforeAll(async () => {
    networks = [await posingNetwork("testnet"), await posingNetwork("mainnet")];
  });
  afterAll(async () => {
    await Promise.all(networks.map(({ localnet }) => localnet.close()));
    await postgres?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs `tss doctor` while testnet's fullnode refuses connections. Returns the exit code and the findings by name. */
  async function doctor(...more: string[]) {
    const printed: string[] = [];
    const notes: string[] = [];
    const environment = {
      DATA_DIR: folder,
      ...posingEnvironment(postgres!.url, networks),
      SUI_GRPC_URL_TESTNET: "http://127.0.0.1:1",
    };
    const exitCode = await runTss(["doctor", "--json", ...more], {
      environment,
      print: (line) => printed.push(line),
      note: (line) => notes.push(line),
    });
    const { findings = [] } = JSON.parse(printed[0] ?? "{}") as { findings?: NamedFinding[] };
    return { exitCode, notes, findings: new Map(findings.map((one) => [one.name, one])) };
  }

  it("checks both, and names the network in each finding about one", async () => {
    const { findings, exitCode } = await doctor();
    expect(exitCode).toBe(1);
    expect(findings.get("testnet fullnode")?.status).toBe("fail");
    expect(findings.get("mainnet fullnode")?.status).toBe("ok");
  });

  it("checks only the network of --only, and everything that the networks share", async () => {
    const { findings } = await doctor("--only", "mainnet");
    expect(findings.get("fullnode")?.status).toBe("ok");
    expect(findings.get("database")?.status).toBe("ok");
    expect([...findings.keys()].join()).not.toContain("testnet");
  });

  it("refuses --only with a network that is not configured, and together with --network", async () => {
    expect(await doctor("--only", "localnet")).toMatchObject({
      exitCode: 1,
      notes: [expect.stringContaining("localnet is not a network of NETWORKS")],
    });
    expect(await doctor("--only", "mainnet", "--network", "mainnet")).toMatchObject({ exitCode: 2 });
  });
});
