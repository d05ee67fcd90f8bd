import { randomBytes } from "node:crypto";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startApp } from "../../../../src/service/app/app.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { runDoctor } from "../../../../src/service/operator/health/doctor/doctor.ts";
import { explainChainFailure } from "../../../../src/service/operator/health/doctor/doctor-chain.ts";
import { Lifecycle } from "../../../../src/service/platform/lifecycle/lifecycle.ts";
import { DATABASE_TIMEOUT_MS } from "../../../support/database/database.ts";
import { migratedFolder } from "../../../support/database/migrated-folder.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type Harness, startHarness } from "../../localnet/harness.ts";

const CHAIN_CHECKS = ["fullnode", "chain", "ika", "treasury", "operator caps", "treasury balance", "gas"];

describe("a start on an unsuitable fullnode", () => {
  let harness: Harness;
  let folder: Awaited<ReturnType<typeof migratedFolder>>;
  let environment: Record<string, string>;
  beforeAll(async () => {
    harness = await startHarness();
    folder = await migratedFolder();
    const { packageId, operatorCapIds } = harness.net.treasury;
    environment = {
      DATA_DIR: folder.folder,
      PORT: "0",
      NETWORKS: "testnet",
      // A localnet's fullnode has none of testnet's objects.
      SUI_GRPC_URL_TESTNET: harness.net.url,
      SERVICECORE_TESTNET_PACKAGE_ID: packageId,
      SERVICECORE_TESTNET_TREASURY_ID: `0x${"9".repeat(64)}`,
      SERVICECORE_TESTNET_OPERATOR_CAP_IDS: operatorCapIds.join(","),
      HOT_WALLET_SUI_SECRET_HEX: randomBytes(32).toString("hex"),
    };
  });
  afterAll(async () => {
    await harness.close();
    folder.remove();
  });

  it(
    "reports the doctor's findings, with its advice",
    async () => {
      const lifecycle = new Lifecycle({ log: silentLog });
      const failure = await startApp(loadConfig(environment), {
        log: pino({ level: "silent" }),
        lifecycle,
      }).then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      await lifecycle.stop();
      const faults = (await runDoctor(environment)).filter(
        ({ name, status }) => status === "fail" && CHAIN_CHECKS.includes(name),
      );
      expect(faults.map(({ name }) => name)).toEqual(["chain", "ika", "treasury"]);
      const [first, ...lines] = failure?.message.split("\n") ?? [];
      expect(first).toContain("the chain cannot be used: ");
      expect(lines).toEqual(
        faults.flatMap(({ name, found, advice }) => [`  ${name}: ${found}`, `    -> ${advice}`]),
      );
    },
    DATABASE_TIMEOUT_MS,
  );

  it("reports its own reason if the doctor finds nothing wrong", async () => {
    const config = loadConfig({ DATA_DIR: folder.folder, PORT: "0", LOCALNET_URL: harness.net.url });
    const db = { query: async () => [] } as never;
    const cause = new Error("something else");
    expect(await explainChainFailure(cause, { network: config.networks[0], db })).toBe(cause);
  });
});
