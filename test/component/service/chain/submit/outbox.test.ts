import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { enqueueOperation, type OperationKind } from "../../../../../src/service/chain/operation.ts";
import type { Lane } from "../../../../../src/service/chain/submit/lane.ts";
import {
  addLane,
  type LaneLease,
  leaseLane,
  releaseLease,
} from "../../../../../src/service/chain/submit/lane-table.ts";
import {
  claimOperations,
  failOperation,
  LeaseLostError,
  resolveTransaction,
  storeTransaction,
} from "../../../../../src/service/chain/submit/outbox.ts";
import { createRefusalHandler } from "../../../../../src/service/chain/submit/refuse-operations.ts";
import { createSubmitter } from "../../../../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../../src/service/platform/coordination/topics.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const NETWORK = "localnet";
const LANE = "0xcap";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
  await addLane(database, NETWORK, { objectId: LANE, version: "1", digest: "d1" });
}, DATABASE_TIMEOUT_MS);

afterAll(() => database.close());

afterEach(async () => {
  await database.query("DELETE FROM chain_operation");
  await database.query("DELETE FROM chain_transaction");
  await database.query("UPDATE lane SET leased_until = '-infinity'");
});

describe("the outbox", () => {
  let lease: LaneLease;
  beforeEach(async () => {
    lease = (await leaseLane(database, LANE, 60_000))!;
  });
  const claim = async (of = lease) =>
    (await claimOperations(database, NETWORK, of, { sign: 10, presign: 10 })).map((o) => o.subjectId);
  const store = (digest: string, ids: string[], of = lease) =>
    database.transaction((db) => storeTransaction(db, of, transaction(digest), ids));

  it("leases the most urgent kind first, and leases an operation alone if it must be sent alone", async () => {
    const presign = await queue("presign", 50);
    const sign = await queue("sign", 10);
    const alone = await queue("sign", 10);
    await database.query("UPDATE chain_operation SET alone = true WHERE subject_id = $1", [alone]);
    expect(await claim()).toEqual([sign]);
    await database.query("UPDATE chain_operation SET state = 'landed' WHERE subject_id = $1", [sign]);
    expect(await claim()).toEqual([alone]);
    await database.query(
      "UPDATE chain_operation SET not_before = now() + interval '1 hour' WHERE subject_id = $1",
      [alone],
    );
    expect(await claim()).toEqual([presign]);
  });

  it("fails an operation while it is queued, and never one whose transaction is stored", async () => {
    await queue();
    const [{ id } = { id: "" }] = await claimOperations(database, NETWORK, lease, { sign: 10 });
    await store("digest", [id]);
    expect(await failOperation(database, id, "CHAIN_REJECTED", "no")).toBe(false);
    const stateOf = () => database.query("SELECT state FROM chain_operation WHERE id = $1", [id]);
    expect(await stateOf()).toEqual([{ state: "sent" }]);
    await database.query("UPDATE chain_operation SET state = 'landed' WHERE id = $1", [id]);
    expect(await failOperation(database, id, "CHAIN_REJECTED", "no")).toBe(false);
    expect(await stateOf()).toEqual([{ state: "landed" }]);
    await database.query("UPDATE chain_operation SET state = 'queued', tx_digest = NULL WHERE id = $1", [id]);
    expect(await failOperation(database, id, "CHAIN_REJECTED", "no")).toBe(true);
    expect(await failOperation(database, id, "CHAIN_REJECTED", "again")).toBe(false);
  });

  it("does not fail an operation that another process has sent meanwhile", async () => {
    await queue();
    const operations = await claimOperations(database, NETWORK, lease, { sign: 10 });
    await store("digest", [operations[0]!.id]);
    const failed: unknown[] = [];
    const kind = {
      load: async (_sql: unknown, ids: readonly string[]) => new Map(ids.map((id) => [id, id])),
      adopt: async () => false,
      failed: async (_sql: unknown, subject: unknown) => void failed.push(subject),
    };
    const log = silentLog;
    const kindOf = () => kind as unknown as OperationKind;
    const refuse = createRefusalHandler({ database, kindOf, log, notify() {}, requeued() {} });
    const abort = { module: "coordinator_inner", code: 7 };
    await refuse(operations, { kind: "MoveAbort", message: "abort 7", abort });
    expect(failed).toEqual([]);
  });

  it("records the outcome of a transaction once", async () => {
    await queue();
    const [{ id } = { id: "" }] = await claimOperations(database, NETWORK, lease, { sign: 10 });
    await store("digest", [id]);
    expect(await resolveTransaction(database, "digest", { state: "landed" })).toBe(true);
    expect(await resolveTransaction(database, "digest", { state: "dropped" })).toBe(false);
    expect(await database.query("SELECT state FROM chain_transaction")).toEqual([{ state: "landed" }]);
  });

  it("wakes all lanes when a transaction of one can never land", async () => {
    await queue();
    const [{ id } = { id: "" }] = await claimOperations(database, NETWORK, lease, { sign: 10, presign: 10 });
    await store("digest", [id]);
    await releaseLease(database, lease);
    const signals = createLocalSignals(true);
    const woken = new Promise<string[]>((resolve) => {
      signals.subscribe(topics.outbox(NETWORK), () =>
        resolve(database.query<{ state: string }>("SELECT state FROM chain_operation").then(states)),
      );
    });
    const send = async () => ({ kind: "dead", reason: "its gas coin was spent" });
    const submitter = createSubmitter({
      ...{ database, network: NETWORK, signals, clock: createManualClock(), log: silentLog, kinds: [] },
      lanes: [{ network: NETWORK, id: LANE, sender: "0x1", send } as unknown as Lane],
      reader: { ownedObjects: async () => new Map(), transaction: async () => undefined },
    });
    submitter.start();
    expect(await woken).toEqual(["queued"]);
    await submitter.stop();
  });

  it("gives leased operations to no other lease until that lease ends", async () => {
    await addLane(database, NETWORK, { objectId: "0xother", version: "1", digest: "d" });
    const other = (await leaseLane(database, "0xother", 60_000))!;
    const taken = await queue();
    expect(await claim()).toEqual([taken]);
    expect(await claim(other)).toEqual([]);
    await releaseLease(database, lease);
    expect(await claim(other)).toEqual([taken]);
    await releaseLease(database, other);
  });

  it.each([
    ["only operation", 1],
    ["first of three operations", 3],
  ])("stores nothing when another lane has taken the %s", async (_, count) => {
    for (let index = 0; index < count; index++) await queue();
    const ids = (await claimOperations(database, NETWORK, lease, { presign: count })).map(({ id }) => id);
    expect(ids).toHaveLength(count);
    await database.query("UPDATE chain_operation SET claimed_fence = 999999 WHERE id = $1", [ids[0]]);
    await expect(store("a", ids)).rejects.toThrow(LeaseLostError);
    expect(await database.query("SELECT digest FROM chain_transaction")).toEqual([]);
    expect(await database.query("SELECT DISTINCT state FROM chain_operation")).toEqual([{ state: "queued" }]);
  });

  it("stores nothing under a lease that another process has taken over", async () => {
    await releaseLease(database, lease);
    const next = (await leaseLane(database, LANE, 60_000))!;
    expect(next.fence).toBeGreaterThan(lease.fence);
    await expect(store("a", [])).rejects.toThrow(LeaseLostError);
    await store("a", [], next);
  });

  it("leases a lane to one process at a time", async () => {
    expect(await leaseLane(database, LANE, 60_000)).toBeUndefined();
  });

  it("allows each lane one transaction without an outcome", async () => {
    await store("a", []);
    await expect(store("b", [])).rejects.toThrow(/chain_transaction_unresolved_lane/);
  });

  it("queues an operation once for its subject", async () => {
    const subject = await queue();
    await queue("presign", 50, subject);
    expect(await database.query("SELECT id FROM chain_operation")).toHaveLength(1);
  });
});

function transaction(digest: string) {
  return { digest, bytes: new Uint8Array(3), signatures: [], network: NETWORK, sender: "0x1" };
}

function states(rows: readonly { readonly state: string }[]): string[] {
  return rows.map(({ state }) => state);
}

async function queue(
  kind: "presign" | "sign" = "presign",
  priority = 50,
  subjectId = newId(),
): Promise<string> {
  await enqueueOperation(database, { id: newId(), network: NETWORK, kind, subjectId, priority });
  return subjectId;
}
