/**
 * A process that sweeps deposits is killed when a sweep is stored but not sent, and again when it is sent but not
 * recorded.
 */
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, describe, expect, it } from "vitest";
import { startLocalnet } from "../../src/localnet/localnet.ts";
import { deriveDepositKey } from "../../src/service/billing/deposits/request-address.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { migrate } from "../../src/service/platform/store/migrate.ts";
import { Secret } from "../../src/service/platform/telemetry/secret.ts";
import { type Coins, coinsOf, recordAddress, recordDeposits } from "../support/database/deposit-rows.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { objectId, projectWith } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type ServiceProcess, serviceFolder, startService } from "../support/service/service.ts";
import { silentLog } from "../support/silent-log.ts";
import { createCheapMpc } from "../unit/localnet/cheap-mpc.ts";

const SEED = new Uint8Array(32).fill(3);
const postgres = await testDatabase();
const { folder, remove } = serviceFolder();
const stops: (() => Promise<unknown>)[] = [remove as () => Promise<void>, async () => postgres?.drop()];
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

describe.skipIf(!postgres)("kill -9 in the middle of a sweep", () => {
  it("moves exactly the credited coins, once", { timeout: 600_000 }, async () => {
    const localnet = await startLocalnet({ mpc: createCheapMpc() });
    stops.push(() => localnet.close());
    const client = new SuiGrpcClient({ network: "localnet", baseUrl: localnet.url, format: "binary" });
    const [destination, later] = [objectId(), objectId()];
    const environment = {
      DATABASE_URL: postgres!.url,
      LOCALNET_URL: localnet.url,
      PRESIGN_BUCKETS: "ED25519/EdDSA",
      BILLING_DEPOSIT_MASTER_SEED_HEX: bytesToHex(SEED),
      BILLING_SWEEP_INTERVAL_SECONDS: "1",
      // Below the value of the waiting deposits.
      BILLING_MIN_DEPOSIT_MICRO_USD: "1000000000000",
    };
    let service: ServiceProcess | undefined;
    stops.push(async () => service?.stop());
    const start = async (to: string) => {
      service = await startService(folder, { ...environment, BILLING_SWEEP_DESTINATION_LOCALNET: to });
    };
    const crash = async () => {
      await service?.crash();
      service = undefined;
    };

    const database = await openTestPool(postgres!.url);
    stops.push(() => database.close());
    await migrate(database, silentLog);
    const projectId = await projectWith(database, 0n);
    const address = deriveDepositKey(new Secret(SEED), "localnet", {
      projectId: projectId,
      reference: "",
    }).toSuiAddress();
    await recordAddress(database, { projectId, address });
    const coinTypes = ["0x2::sui::SUI", await fund(localnet.url, address, client)];
    const paid: Coins[] = [];
    for (const coinType of coinTypes)
      paid.push(
        await recordDeposits(database, client, { projectId, address }, { state: "credited", coinType }),
      );
    await fund(localnet.url, address, client);
    await recordDeposits(database, client, { projectId, address }, { state: "waiting" });
    const all = await Promise.all(coinTypes.map((coinType) => coinsOf(client, address, coinType)));

    await setFaults(localnet.url, { executeLatencyMs: 3_600_000 });
    await start(destination);
    const stored = "SELECT 1 FROM chain_transaction WHERE sender = $1 AND state = 'stored'";
    await pollUntil(async () => (await database.query(stored, [address])).length === 2, WAIT);
    await crash();
    expect(await sweepStates(database)).toEqual(["queued", "queued"]);
    expect(await Promise.all(coinTypes.map((coinType) => coinsOf(client, destination, coinType)))).toEqual([
      new Map(),
      new Map(),
    ]);

    await setFaults(localnet.url, { executeLatencyMs: 0 });
    await database.transaction(async (db) => {
      // No process can record that a sweep landed.
      await db.query("SELECT id FROM sweep FOR UPDATE");
      await start(later);
      await pollUntil(async () => {
        const arrived = await Promise.all(
          coinTypes.map((coinType) => coinsOf(client, destination, coinType)),
        );
        return arrived.every((coins) => coins.size === 1);
      }, WAIT);
      await crash();
    });
    expect(await sweepStates(database)).toEqual(["queued", "queued"]);

    await start(later);
    await pollUntil(async () => (await sweepStates(database)).join() === "landed,landed", WAIT);
    const swept = await Promise.all(coinTypes.map((coinType) => coinsOf(client, destination, coinType)));
    expect(swept).toEqual(paid);
    const left = await Promise.all(coinTypes.map((coinType) => coinsOf(client, address, coinType)));
    for (const [index, coins] of all.entries())
      expect(left[index]).toEqual(new Map([...coins].filter(([id]) => !paid[index]!.has(id))));
    expect(left.map((coins) => coins.size)).toEqual([1, 1]);
    const sent = await database.query("SELECT state FROM chain_transaction WHERE sender = $1", [address]);
    expect(sent).toEqual([{ state: "landed" }, { state: "landed" }]);
    expect(await service!.stop()).toBe(0);
    service = undefined;
  });
});

const WAIT = { intervalMs: 50 };

async function sweepStates(database: Database): Promise<string[]> {
  return (await database.query<{ state: string }>("SELECT state FROM sweep")).map(({ state }) => state);
}

/** Pays a SUI and an IKA coin to the address. Returns IKA's coin type. */
async function fund(url: string, recipient: string, client: SuiGrpcClient): Promise<string> {
  await post(url, "/v2/gas", { FixedAmountRequest: { recipient } });
  const { balances } = await client.listBalances({ owner: recipient });
  return balances.find(({ coinType }) => coinType.endsWith("::ika::IKA"))!.coinType;
}

const setFaults = (url: string, faults: object) => post(url, "/localnet/faults", faults);

async function post(url: string, path: string, body: object): Promise<void> {
  const reply = await fetch(new URL(path, url), { method: "POST", body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
}
