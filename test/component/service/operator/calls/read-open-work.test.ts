/** The figures by which an operator removes a network. */
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Admin } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { MAX_COIN_COUNT } from "../../../../../src/service/billing/sweeps/queue-sweeps.ts";
import { setDraining } from "../../../../../src/service/chain/network-drain.ts";
import { createNetworkCalls, readOpenWork } from "../../../../../src/service/operator/calls/network-calls.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { openTestDatabase } from "../../../../support/database/database.ts";
import { recordAddress } from "../../../../support/database/deposit-rows.ts";
import { dwalletOf, objectId, projectWith, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { clientOf } from "../../../../support/service/service-client.ts";

const DESTINATION = objectId();
let database: Database;
let projectId: string;
let address: string;
beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of ["deposit_coin", "deposit", "sweep"]) await database.query(`DELETE FROM ${table}`);
  projectId = await projectWith(database, 0n);
  address = objectId();
  await recordAddress(database, { projectId, address, reference: newId() });
});

const coins = async (minValueMicroUsd: bigint, destination?: string) => {
  const { open, left } = await readOpenWork(database, "localnet", { destination, minValueMicroUsd });
  return [open.coinsToSweep, left.coinsLeft];
};
/** Inserts credited coins of these values in one deposit. */
async function credit(...values: number[]): Promise<string[]> {
  const [depositId, objectIds] = [newId(), values.map(() => objectId())];
  const total = values.reduce((sum, value) => sum + value, 0);
  await database.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                          value_micro_usd, ledger_key, credited_at)
     VALUES ($1, $2, 'localnet', $3, $4, '0x2::sui::SUI', $5::numeric, 'credited', 1, $5::bigint, $4, now())`,
    [depositId, projectId, address, newId(), total],
  );
  for (const [index, value] of values.entries())
    await database.query(
      `INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
       VALUES ('localnet', $1, '1', 'd', '0x2::sui::SUI', $2::numeric, $3)`,
      [objectIds[index], value, depositId],
    );
  return objectIds;
}

it("counts the coins that the sweeper takes, by the value of all coins of their address and type", async () => {
  await credit(60, 40);
  expect(await coins(100n, DESTINATION)).toEqual([2, 0]);
  expect(await coins(101n, DESTINATION)).toEqual([0, 2]);
});

it("counts coins as left if so many small ones are together worth a sweep, and one sweep's are not", async () => {
  await credit(...Array<number>(MAX_COIN_COUNT + 1).fill(1));
  expect(await coins(BigInt(MAX_COIN_COUNT), DESTINATION)).toEqual([MAX_COIN_COUNT + 1, 0]);
  expect(await coins(BigInt(MAX_COIN_COUNT) + 1n, DESTINATION)).toEqual([0, MAX_COIN_COUNT + 1]);
});

it("counts every coin as left on a network without a destination", async () => {
  await credit(100);
  expect(await coins(0n)).toEqual([0, 1]);
});

it("counts the coins of a refused sweep, which can be swept again, and none that a landed one took", async () => {
  const [coinId] = await credit(100, 100);
  const sweepId = newId();
  await database.query(
    `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, state, failure_reason,
                        failure_message)
     VALUES ($1, 'localnet', $2, '0x2::sui::SUI', $3, 100, 1, 'refused', 'COIN_SPENT', 'spent')`,
    [sweepId, address, DESTINATION],
  );
  await database.query("UPDATE deposit_coin SET sweep_id = $1 WHERE object_id = $2", [sweepId, coinId]);
  expect(await coins(100n, DESTINATION)).toEqual([2, 0]);
  await database.query(
    `UPDATE sweep SET state = 'landed', tx_digest = 't', failure_reason = NULL, failure_message = NULL`,
  );
  expect(await coins(100n, DESTINATION)).toEqual([1, 0]);
});

it("shows what waits for others and is idle all the same, and is not idle while coins or exits wait", async () => {
  await database.query("INSERT INTO known_network (name, chain_id) VALUES ('localnet', 'c')");
  const dwallet = await dwalletOf(database, projectId);
  const sweeps = { destination: DESTINATION, minValueMicroUsd: 100n };
  const calls = createNetworkCalls({
    database,
    signals: { ...createLocalSignals(), notify() {} },
    sweepsOf: () => sweeps,
  }) as ServiceImpl<typeof Admin>;
  const admin = clientOf(Admin, calls, () => ({
    kind: "admin",
    network: "localnet",
    networks: ["localnet"],
    origin: TEST_ORIGIN,
  }));
  const { work: none } = await admin.drainNetwork({});
  expect(none).toMatchObject({ idle: true, unacceptedDwallets: 0, coinsLeft: 0 });

  await credit(99);
  await database.query("UPDATE dwallet SET state = 'AwaitingKeyHolderSignature' WHERE object_id = $1", [
    dwallet.objectId,
  ]);
  const { work: left } = await admin.getNetworkWork({});
  expect(left).toMatchObject({ idle: true, unacceptedDwallets: 1, coinsLeft: 1 });

  await credit(1);
  expect((await admin.getNetworkWork({})).work).toMatchObject({ idle: false, coinsToSweep: 2 });
  await database.query("UPDATE deposit SET state = 'credited', value_micro_usd = 0");
  const leave = async (state: string) =>
    database.query(
      `INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient, nonce,
                                     expires_epoch, public_key, signature, state)
       SELECT $1, $2, 'localnet', id, 'leave', '', 't', 'r', 0, 1, '', '', $3 FROM dwallet WHERE object_id = $4`,
      [newId(), projectId, state, dwallet.objectId],
    );
  await leave("settling");
  expect((await admin.getNetworkWork({})).work).toMatchObject({
    idle: false,
    leavingDwallets: 1,
    coinsLeft: 2,
  });
});

it("cannot be drained on a database that has never been used with it", async () => {
  await expect(setDraining(database, "testnet", true)).rejects.toMatchObject({
    reason: "NETWORK_UNAVAILABLE",
  });
});

it("wakes the refill of the pool when a drain ends, and at no other change", async () => {
  await database.query("INSERT INTO known_network (name, chain_id) VALUES ('testnet', 'c')");
  const told: string[] = [];
  const calls = createNetworkCalls({
    database,
    signals: { ...createLocalSignals(), notify: (topic) => void told.push(topic) },
    sweepsOf: () => ({ destination: DESTINATION, minValueMicroUsd: 100n }),
  }) as ServiceImpl<typeof Admin>;
  const admin = clientOf(Admin, calls, () => ({
    ...{ kind: "admin", network: "testnet", networks: ["testnet"], origin: TEST_ORIGIN },
  }));
  await admin.drainNetwork({});
  expect(told).toEqual([]);
  await admin.resumeNetwork({});
  expect(told).toEqual([topics.presignWanted("testnet")]);
});
