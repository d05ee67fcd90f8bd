/** `tss reconcile` on two networks with one database, on a real PostgreSQL, while one of them cannot be reached. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { printReconciliations } from "../../src/cli/commands/operator/reconcile.ts";
import { describeFailure } from "../../src/cli/failure.ts";
import { reconcileOffline } from "../../src/service/app/reconcile-offline.ts";
import { loadConfig } from "../../src/service/config/config.ts";
import { Lifecycle } from "../../src/service/platform/lifecycle/lifecycle.ts";
import {
  type PosingNetwork,
  posingAccess,
  posingEnvironment,
  posingNetwork,
} from "../support/chain/two-networks.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { silentLog } from "../support/silent-log.ts";

const postgres = await migratedDatabase();
const folder = mkdtempSync(path.join(tmpdir(), "tss-reconcile-"));

describe.skipIf(postgres === undefined)("a reconciliation of several networks", () => {
  let networks: PosingNetwork[];
  beforeAll(async () => {
    networks = [await posingNetwork("testnet"), await posingNetwork("mainnet")];
  });
  afterAll(async () => {
    await Promise.all(networks.map(({ localnet }) => localnet.close()));
    await postgres?.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Reconciles, and prints as the command does. Returns the printed lines and the failure. */
  async function reconcile(more: Record<string, string>) {
    const config = loadConfig({
      DATA_DIR: folder,
      ...posingEnvironment(postgres!.url, networks),
      ...more,
    });
    const lifecycle = new Lifecycle({ log: silentLog });
    const printed: string[] = [];
    const options = { lifecycle, log: silentLog, openAccess: posingAccess(networks) };
    try {
      await printReconciliations(reconcileOffline(config, config.networks, options), {
        isOnly: false,
        json: true,
        print: (line) => printed.push(line),
      });
      return { printed, failure: undefined };
    } catch (error) {
      return { printed, failure: describeFailure(error) };
    } finally {
      await lifecycle.stop();
    }
  }
  const namesIn = (printed: readonly string[]) =>
    printed.map((line) => (JSON.parse(line) as { network: string }).network);

  it("goes on after a network that fails, prints the other's report, and then fails with the name", async () => {
    const { printed, failure } = await reconcile({ SUI_GRPC_URL_TESTNET: "http://127.0.0.1:1" });
    expect(namesIn(printed)).toEqual(["mainnet"]);
    expect(failure).toMatchObject({ exitCode: 1, message: expect.stringContaining("testnet: ") });
    expect(failure?.message).not.toContain("mainnet: ");
  });

  it("prints the report of the network that was done before another one failed", async () => {
    const { printed, failure } = await reconcile({ SUI_GRPC_URL_MAINNET: "http://127.0.0.1:1" });
    expect(namesIn(printed)).toEqual(["testnet"]);
    expect(failure?.message).toContain("mainnet: ");
  });

  it("reports every network and does not fail if all can be reached", async () => {
    const { printed, failure } = await reconcile({});
    expect(namesIn(printed)).toEqual(["testnet", "mainnet"]);
    expect(failure).toBeUndefined();
  });
});
