/** Each statement of the lanes and the outbox changes its own rows, among lanes, transactions and operations of others. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  addGasCoin,
  addLane,
  dropGasCoins,
  endLeases,
  findLeasedLane,
  forgetForeignUses,
  isLaneObject,
  knownLanes,
  type LaneLease,
  leaseLane,
  markForeignUse,
  moveLane,
  readForeignUses,
  readGasCoins,
  readLaneObjects,
  releaseLease,
  renewLease,
  resetLane,
} from "../../../../../src/service/chain/submit/lane-table.ts";
import {
  claimOperations,
  correctDropped,
  emptyTransactions,
  failOperation,
  finishOperations,
  hasStaleOperation,
  isResolvedTransaction,
  lookForWork,
  operationsOf,
  releaseOperations,
  requeueOperations,
  resolveTransaction,
  storeTransaction,
  unclaimOperations,
  unresolvedTransaction,
} from "../../../../../src/service/chain/submit/outbox.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";

const NETWORK = "localnet";
const [OWN, OTHER, ABROAD] = ["0x0a", "0x0b", "0x0c"];
const TABLES = ["lane", "gas_coin", "chain_transaction", "chain_operation"];

let database: Database;
/** The leases of the three lanes. */
let own: LaneLease;
let other: LaneLease;
let abroad: LaneLease;
/** Operations of the own lane's transaction. */
let sent: string[];
/** Operations in the queue: claimed by the own lane, claimed by the other one, and due. */
let mine: string;
let theirs: string;
let waiting: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  for (const table of [...TABLES].reverse()) await database.query(`DELETE FROM ${table}`);
  for (const [lane, network] of [
    [OWN, NETWORK],
    [OTHER, NETWORK],
    [ABROAD, "testnet"],
  ] as const) {
    await addLane(database, network, { objectId: lane, version: "1", digest: "d1" });
    for (const coin of ["1", "2"])
      await addGasCoin(database, lane, { objectId: `${lane}${coin}`, version: "1", digest: "d1" });
  }
  [own, other, abroad] = [await lease(OWN), await lease(OTHER), await lease(ABROAD)];
  sent = [await queue(), await queue()];
  for (const [of, network, operations] of [
    [own, NETWORK, sent],
    [other, NETWORK, [await queue()]],
    [abroad, "testnet", [await queue("testnet")]],
  ] as const) {
    await database.query("UPDATE chain_operation SET claimed_fence = $1 WHERE id = ANY($2)", [
      of.fence,
      operations,
    ]);
    await store(of, network, operations);
  }
  [mine, theirs, waiting] = [await queue(), await queue(), await queue()];
  await claimedBy(own, mine);
  await claimedBy(other, theirs);
  await queue("testnet");
  for (const table of ["chain_operation", "chain_transaction"])
    await database.query(`UPDATE ${table} SET created_at = created_at - interval '1 day'`);
  await database.query("UPDATE chain_operation SET updated_at = updated_at - interval '1 day'");
});

describe("a statement changes only its rows:", () => {
  it("the lease of a lane, its renewal and its end", async () => {
    await releaseLease(database, own);
    await releaseLease(database, other);
    let leased: LaneLease | undefined;
    expect(
      await changes(async () => {
        leased = await leaseLane(database, OWN, 60_000);
      }),
    ).toEqual({ lane: { [OWN]: ["fence", "leased_until"] } });
    expect(await changes(() => renewLease(database, leased!, 120_000))).toEqual({
      lane: { [OWN]: ["leased_until"] },
    });
    expect(await changes(() => renewLease(database, own, 120_000))).toEqual({});
    expect(await changes(() => releaseLease(database, own))).toEqual({});
    expect(await changes(() => releaseLease(database, leased!))).toEqual({
      lane: { [OWN]: ["leased_until"] },
    });
    expect(await findLeasedLane(database)).toBe(ABROAD);
    await endLeases(database, "testnet");
    expect(await findLeasedLane(database)).toBeUndefined();
  });

  it("the end of all leases of a network", async () => {
    expect(await changes(() => endLeases(database, NETWORK))).toEqual({
      lane: { [OWN]: ["leased_until"], [OTHER]: ["leased_until"] },
    });
  });

  it("what a transaction made of a lane's objects", async () => {
    const written = [OWN, `${OWN}1`, `${OTHER}1`, OTHER].map((objectId) => [
      objectId,
      { objectId, version: "2", digest: "d2" },
    ]);
    const outcome = { written: new Map(written as never), deleted: [`${OWN}2`, `${OTHER}2`] };
    expect(await changes(() => moveLane(database, OWN, outcome as never))).toEqual({
      lane: { [OWN]: ["digest", "version"] },
      gas_coin: {
        [`${NETWORK} ${OWN}1`]: ["digest", "version"],
        [`${NETWORK} ${OWN}2`]: ["merged"],
      },
    });
    expect(await readLaneObjects(database, OWN)).toEqual({
      operatorCap: { objectId: OWN, version: "2", digest: "d2" },
      gasCoins: [{ objectId: `${OWN}1`, version: "2", digest: "d2" }],
    });
    // A merged coin keeps its row, because a fullnode that lags behind would show it again.
    await dropGasCoins(database, OWN, [`${OWN}2`, `${OTHER}1`]);
    expect(await coins(NETWORK)).toEqual([`${OWN}1`, `${OWN}2`, `${OTHER}1`, `${OTHER}2`]);
    await dropGasCoins(database, OWN, [`${OWN}1`]);
    expect(await coins(NETWORK)).toEqual([`${OWN}2`, `${OTHER}1`, `${OTHER}2`]);
    expect(await isLaneObject(database, OWN, `${OWN}2`)).toBe(true);
    expect(await isLaneObject(database, OWN, `${OTHER}2`)).toBe(false);
  });

  it("a lane's reset", async () => {
    expect(await changes(() => resetLane(database, { objectId: OWN, version: "9", digest: "d9" }))).toEqual({
      lane: { [OWN]: ["digest", "version"] },
    });
    expect(await coins(NETWORK)).toEqual([`${OTHER}1`, `${OTHER}2`]);
    expect(await coins("testnet")).toEqual([`${ABROAD}1`, `${ABROAD}2`]);
  });

  it("another sender's use of a lane, which stops the lanes of its network alone", async () => {
    await markForeignUse(database, { laneId: ABROAD, digest: "x" });
    await markForeignUse(database, { laneId: OTHER, digest: "y" });
    expect(await readForeignUses(database, NETWORK)).toEqual([{ laneId: OTHER, digest: "y" }]);
    await releaseLease(database, own);
    expect(await leaseLane(database, OWN, 60_000)).toBeUndefined();
    expect(await changes(() => forgetForeignUses(database, NETWORK))).toEqual({
      lane: { [OTHER]: ["foreign_digest"] },
    });
    expect(await leaseLane(database, OWN, 60_000)).toBeDefined();
  });

  it("the lanes that others have used, and those that have rows, in the order of their ids", async () => {
    const latest = "0x09";
    await addLane(database, NETWORK, { objectId: latest, version: "1", digest: "d1" });
    const lanes = [latest, OWN, OTHER];
    for (const laneId of lanes) await markForeignUse(database, { laneId, digest: "x" });
    expect((await readForeignUses(database, NETWORK)).map(({ laneId }) => laneId)).toEqual(lanes);
    expect(await knownLanes(database, [OTHER, "0x0d", OWN, latest])).toEqual(lanes);
  });

  it("the claim of operations, and its end", async () => {
    expect(await changes(() => claimOperations(database, NETWORK, own, { sign: 10 }))).toEqual({
      chain_operation: { [waiting]: ["claimed_fence"] },
    });
    const [kept] = await claimOperations(database, NETWORK, own, { sign: 1 });
    expect(kept?.id).toBe(mine);
    expect(await changes(() => unclaimOperations(database, own, [kept!]))).toEqual({
      chain_operation: { [waiting]: ["claimed_fence"] },
    });
  });

  it("the outcome of a transaction, of which only the first counts", async () => {
    const outcome = { state: "aborted", gasUsedMist: 5n, error: "no" } as const;
    expect(await isResolvedTransaction(database, `${OWN}tx`)).toBe(false);
    expect(await changes(() => resolveTransaction(database, `${OWN}tx`, outcome))).toEqual({
      chain_transaction: { [`${OWN}tx`]: ["error", "gas_used_mist", "resolved_at", "state"] },
    });
    expect(await isResolvedTransaction(database, `${OWN}tx`)).toBe(true);
    expect(await isResolvedTransaction(database, `${OTHER}tx`)).toBe(false);
    const landed = { kind: "landed", gasUsedMist: 6n } as never;
    expect(await changes(() => correctDropped(database, `${OWN}tx`, landed))).toEqual({});
    await database.query("UPDATE chain_transaction SET state = 'dropped', error = 'lost'");
    expect(await changes(() => correctDropped(database, `${OWN}tx`, landed))).toEqual({
      chain_transaction: { [`${OWN}tx`]: ["error", "gas_used_mist", "state"] },
    });
  });

  it("the operations of a transaction that landed, or that has no effects", async () => {
    expect((await operationsOf(database, `${OWN}tx`)).map(({ id }) => id)).toEqual(sent);
    expect(await changes(() => finishOperations(database, [sent[0]!]))).toEqual({
      chain_operation: { [sent[0]!]: ["state", "updated_at"] },
    });
    expect((await operationsOf(database, `${OWN}tx`)).map(({ id }) => id)).toEqual([sent[1]]);
    expect(await changes(() => releaseOperations(database, `${OWN}tx`))).toEqual({
      chain_operation: { [sent[1]!]: ["state", "tx_digest", "updated_at"] },
    });
  });

  it("the failure of an operation, and its return to the queue", async () => {
    expect(await changes(() => failOperation(database, waiting, "X", "why"))).toEqual({
      chain_operation: { [waiting]: ["failure_detail", "failure_reason", "state", "updated_at"] },
    });
    const how = { alone: true, delayMs: 60_000 };
    expect(await changes(() => requeueOperations(database, [mine, waiting, ...sent], how))).toEqual({
      chain_operation: { [mine]: ["alone", "attempts", "claimed_fence", "not_before", "updated_at"] },
    });
    // Once alone, always alone.
    await requeueOperations(database, [mine], { alone: false, delayMs: 60_000 });
    const [row] = await database.query("SELECT alone, attempts FROM chain_operation WHERE id = $1", [mine]);
    expect(row).toEqual({ alone: true, attempts: 2 });
  });

  it("the count of how often a transaction was sent", async () => {
    expect(
      await changes(async () => {
        const found = await unresolvedTransaction(database, NETWORK, OWN);
        expect(found?.digest).toBe(`${OWN}tx`);
      }),
    ).toEqual({ chain_transaction: { [`${OWN}tx`]: ["sends"] } });
    await resolveTransaction(database, `${OWN}tx`, { state: "landed" });
    expect(await unresolvedTransaction(database, NETWORK, OWN)).toBeUndefined();
    expect(await unresolvedTransaction(database, "testnet", OTHER)).toBeUndefined();
  });

  it("the emptying of the oldest transactions whose outcome is known", async () => {
    for (const lane of [OWN, OTHER]) await resolveTransaction(database, `${lane}tx`, { state: "landed" });
    await database.query(
      `UPDATE chain_transaction SET resolved_at = now() - CASE WHEN lane = $1 THEN interval '30 days 1 minute'
                                                                ELSE interval '40 days' END`,
      [OWN],
    );
    expect(await changes(() => emptyTransactions(database, 30, 1))).toEqual({
      chain_transaction: { [`${OTHER}tx`]: ["bytes", "signatures"] },
    });
    await database.query(
      "UPDATE chain_transaction SET resolved_at = now() - interval '29 days' WHERE lane = $1",
      [OWN],
    );
    expect(await emptyTransactions(database, 30, 10)).toBe(0);
  });
});

describe("work", () => {
  it("is a lane's own unresolved transaction, or a due operation of its network that no lease has", async () => {
    expect((await lookForWork(database, NETWORK, OWN)).hasWork).toBe(true);
    await requeueOperations(database, [mine, waiting], { alone: false, delayMs: 60_000 });
    expect((await lookForWork(database, NETWORK, OWN)).hasWork).toBe(true);
    await resolveTransaction(database, `${OWN}tx`, { state: "landed" });
    // The other lane holds what is left.
    expect((await lookForWork(database, NETWORK, OWN)).hasWork).toBe(false);
    await releaseLease(database, other);
    expect((await lookForWork(database, NETWORK, OWN)).hasWork).toBe(true);
    await failOperation(database, theirs, "X", "");
    expect((await lookForWork(database, NETWORK, OWN)).hasWork).toBe(false);
  });

  it("is stale once it has been due for too long, in its network and in the queue", async () => {
    expect(await hasStaleOperation(database, NETWORK, 60_000)).toBe(false);
    await database.query(
      "UPDATE chain_operation SET not_before = now() - interval '2 minutes' WHERE network <> $1 OR state <> 'queued'",
      [NETWORK],
    );
    expect(await hasStaleOperation(database, NETWORK, 60_000)).toBe(false);
    expect(await hasStaleOperation(database, "testnet", 60_000)).toBe(true);
    expect(await hasStaleOperation(database, "testnet", 180_000)).toBe(false);
  });
});

const changes = (action: () => Promise<unknown>) => changedRows(database, TABLES, action);

async function lease(lane: string): Promise<LaneLease> {
  return (await leaseLane(database, lane, 60_000))!;
}

async function coins(network: string): Promise<string[]> {
  return (await readGasCoins(database, network)).map(({ objectId }) => objectId).sort();
}

async function queue(network = NETWORK): Promise<string> {
  const id = newId();
  await database.query(
    `INSERT INTO chain_operation (id, network, kind, subject_id, priority) VALUES ($1, $2, 'sign', $3, 10)`,
    [id, network, newId()],
  );
  return id;
}

async function claimedBy({ fence }: LaneLease, id: string): Promise<void> {
  await database.query("UPDATE chain_operation SET claimed_fence = $1 WHERE id = $2", [fence, id]);
}

/** Stores a transaction, which is named after its lane. */
async function store(of: LaneLease, network: string, operations: readonly string[]): Promise<void> {
  const transaction = { digest: `${of.laneId}tx`, bytes: Uint8Array.of(1), signatures: ["s"] };
  await database.transaction((db) =>
    storeTransaction(db, of, { ...transaction, network, sender: "0x1" }, operations),
  );
}
