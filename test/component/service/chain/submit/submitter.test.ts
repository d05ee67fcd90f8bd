import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MixedUpAnswerError } from "../../../../../src/protocol/chain/read-errors.ts";
import { enqueueOperation } from "../../../../../src/service/chain/operation.ts";
import type { ExecutionFailure } from "../../../../../src/service/chain/outcome.ts";
import { addGasCoin, addLane, leaseLane } from "../../../../../src/service/chain/submit/lane-table.ts";
import { createSubmitter, type Submitter } from "../../../../../src/service/chain/submit/submitter.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { FakeChain, LANE, NETWORK } from "../fake-chain.ts";

const COIN = "0xc014";

let database: Database;
let submitter: Submitter | undefined;
let chain: FakeChain;
let alarms: object[] = [];
let onAlarm = () => {};
/** The problems that the submitter reported to the operator. */
let blocked: string[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
  await addLane(database, NETWORK, { objectId: LANE, version: "1", digest: "d1" });
  await addGasCoin(database, LANE, { objectId: COIN, version: "1", digest: "d1" });
}, DATABASE_TIMEOUT_MS);

afterAll(() => database.close());

beforeEach(() => {
  chain = new FakeChain();
  alarms = [];
  blocked = [];
  onAlarm = () => {};
});

afterEach(async () => {
  await submitter?.stop();
  submitter = undefined;
  await database.query("DELETE FROM chain_operation");
  await database.query("DELETE FROM chain_transaction");
  await database.query(
    "UPDATE lane SET leased_until = now(), foreign_digest = NULL, version = '1', digest = 'd1'",
  );
});

describe("the submitter", () => {
  it("stores the bytes, the signatures and the digest before it sends them", async () => {
    const id = await queue();
    let stored: unknown;
    chain.onSend = async (digest) => {
      [stored] = await database.query("SELECT digest, bytes, signatures, state FROM chain_transaction");
      return chain.execute(digest);
    };
    await run([id]);
    expect(stored).toMatchObject({
      digest: chain.sent[0]?.digest,
      signatures: ["signature"],
      state: "stored",
    });
    expect(await stateOf(id)).toBe("landed");
  });

  it("sends the same bytes again after it died between storing and sending", async () => {
    const id = await queue();
    const gone = new Promise<void>((resolve) => {
      chain.onSend = () => {
        resolve();
        throw new Error("the process died");
      };
    });
    submitter = start();
    await gone;
    await submitter.stop();
    const [before] = await database.query<{ bytes: Uint8Array }>("SELECT bytes FROM chain_transaction");

    chain.onSend = undefined;
    await run([id]);
    expect(chain.built).toBe(1);
    expect(chain.sent.map(({ bytes }) => Buffer.from(bytes))).toEqual([
      Buffer.from(before?.bytes ?? []),
      Buffer.from(before?.bytes ?? []),
    ]);
    expect(chain.landed).toEqual([id]);
  });

  it("lands an operation once if the reply to its transaction was lost", async () => {
    const id = await queue();
    let calls = 0;
    chain.onSend = async (digest) => {
      const outcome = await chain.execute(digest);
      if (++calls === 1) throw new Error("the reply was lost");
      return outcome;
    };
    await run([id]);
    expect(chain.executed).toEqual([chain.sent[0]?.digest]);
    expect(chain.landed).toEqual([id]);
  });

  it("fails the one bad operation of a batch once, and lands the others", async () => {
    const ids = await Promise.all([queue(), queue(), queue()]);
    const guilty = ids[1] ?? "";
    chain.refuse = (subjects) => (subjects.includes(guilty) ? abort("coordinator_inner", 6) : undefined);
    await run(ids);
    expect(chain.landed.toSorted()).toEqual(ids.filter((id) => id !== guilty).toSorted());
    expect(chain.failed).toEqual([guilty]);
    expect(await stateOf(guilty)).toBe("failed");
  });

  it("does not fail an operation because of a dry run, because the fullnode may lag behind", async () => {
    const id = await queue();
    chain.refuse = () => abort("coordinator_inner", 4);
    chain.abortOnExecution = () => undefined;
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([id]);
  });

  it("fails it once even if only the real execution finds the fault", async () => {
    const ids = await Promise.all([queue(), queue()]);
    const guilty = ids[0] ?? "";
    chain.abortOnExecution = (subjects) =>
      subjects.includes(guilty) ? abort("coordinator_inner", 6) : undefined;
    await run(ids);
    expect(chain.landed).toEqual([ids[1]]);
    expect(chain.failed).toEqual([guilty]);
    const states = await database.query<{ state: string }>(
      "SELECT state FROM chain_transaction ORDER BY created_at",
    );
    expect(states.map(({ state }) => state)).toEqual(["aborted", "aborted", "landed"]);
  });

  it("keeps operations queued while only the operator can fix the cause", async () => {
    const id = await queue();
    let refusals = 0;
    chain.refuse = () => (++refusals <= 2 ? abort("sessions_manager", 1) : undefined);
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([id]);
  });

  it("keeps a whole batch queued, and reports it, until Ika's coordinator accepts the package again", async () => {
    const ids = await Promise.all([queue(), queue(), queue()]);
    let refusals = 0;
    chain.refuse = () => (++refusals <= 2 ? abort("coordinator", 0) : undefined);
    await run(ids);
    expect(chain.failed).toEqual([]);
    expect(chain.landed.toSorted()).toEqual(ids.toSorted());
    expect(chain.executed).toHaveLength(1);
    expect(blocked).toEqual(["coordinator_version", "coordinator_version"]);
    expect(alarms).toContainEqual(expect.objectContaining({ cause: "coordinator_version" }));
  });

  it("keeps operations queued while the settings name another package", async () => {
    const id = await queue();
    let refusals = 0;
    const mismatch = { kind: "CommandArgumentError", message: "TypeMismatch" };
    chain.refuse = () => (++refusals <= 2 ? mismatch : undefined);
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([id]);
    expect(blocked).toEqual(["wrong_package", "wrong_package"]);
  });

  it("keeps operations queued when only the real execution meets the coordinator's new version", async () => {
    const id = await queue();
    let refusals = 0;
    chain.abortOnExecution = () => (++refusals <= 1 ? abort("coordinator", 0) : undefined);
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([id]);
    expect(blocked).toEqual(["coordinator_version"]);
  });

  it("does not fail an operation because its one-time mark is used", async () => {
    const id = await queue();
    const refused = new Promise<void>((resolve) => {
      chain.refuse = () => {
        resolve();
        return abort("sessions_manager", 3);
      };
    });
    submitter = start();
    await refused;
    await submitter.stop();
    expect(chain.failed).toEqual([]);
    expect(await stateOf(id)).toBe("queued");
  });

  it("completes an operation whose mark is already on the chain", async () => {
    const id = await queue();
    chain.refuse = () => abort("dynamic_field", 0);
    chain.hasMark = true;
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(await stateOf(id)).toBe("landed");
  });

  it("fails nothing while the fullnode answers for another operation, and sends the rest meanwhile", async () => {
    const confused = await queue();
    chain.refuse = (subjects) => (subjects.includes(confused) ? abort("dynamic_field", 0) : undefined);
    chain.mixUp = new MixedUpAnswerError("session", "another's");
    const other = await queue();
    await run([other]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([other]);
    expect(await stateOf(confused)).toBe("queued");

    chain.mixUp = undefined;
    chain.hasMark = true;
    await run([confused]);
    expect(chain.failed).toEqual([]);
    expect(await stateOf(confused)).toBe("landed");
  });

  it("requeues the operations of a transaction that can never land", async () => {
    const id = await queue();
    let calls = 0;
    chain.onSend = async (digest) =>
      ++calls === 1 ? { kind: "dead", reason: "its epoch is over" } : chain.execute(digest);
    await run([id]);
    expect(chain.landed).toEqual([id]);
    const states = await database.query<{ state: string }>(
      "SELECT state FROM chain_transaction ORDER BY created_at",
    );
    expect(states.map(({ state }) => state)).toEqual(["dropped", "landed"]);
  });

  it("continues after one of its own transactions has used the lane's input", async () => {
    const id = await queue();
    let calls = 0;
    chain.onSend = async (digest) =>
      ++calls === 1
        ? { kind: "dead", reason: "spent", spent: { objectId: LANE, byDigest: digest } }
        : chain.execute(digest);
    await run([id]);
    expect(chain.landed).toEqual([id]);
    expect(alarms).toEqual([]);
  });

  it("stops and reports why after a foreign transaction has used the lane's input", async () => {
    const id = await queue();
    const alarmed = new Promise<void>((resolve) => {
      onAlarm = resolve;
    });
    const spent = { objectId: LANE, byDigest: "foreign" };
    chain.onSend = async () => ({ kind: "dead", reason: "spent", spent });
    submitter = start();
    await alarmed;
    await submitter.stop();
    expect(alarms).toEqual([expect.objectContaining({ lane: LANE, digest: "foreign" })]);
    expect(chain.sent).toHaveLength(1);
    expect(await stateOf(id)).toBe("queued");
    expect(await leaseLane(database, LANE, 1_000)).toBeUndefined();
  });

  it("continues after a foreign transaction has used an input of the operation itself", async () => {
    const id = await queue();
    const spent = { objectId: "0xc01", byDigest: "foreign" };
    let calls = 0;
    chain.onSend = async (digest) =>
      ++calls === 1 ? { kind: "dead", reason: "spent", spent } : chain.execute(digest);
    await run([id]);
    expect(chain.landed).toEqual([id]);
    expect(alarms).toEqual([]);
  });

  it("leaves a lane without gas idle", async () => {
    await database.query("UPDATE gas_coin SET merged = true");
    const id = await queue();
    submitter = start();
    await submitter.stop();
    expect(chain.built).toBe(0);
    await database.query("UPDATE gas_coin SET merged = false");
    submitter = undefined;
    await run([id]);
    expect(chain.landed).toEqual([id]);
  });

  it("stops if the dry run shows that a foreign transaction moved the lane's objects", async () => {
    await queue();
    const alarmed = new Promise<void>((resolve) => {
      onAlarm = resolve;
    });
    chain.refuse = () => ({ kind: "InvalidTransaction", message: "not available for consumption" });
    chain.objects = { version: "7", lastChange: "foreign" };
    submitter = start();
    await alarmed;
    expect(alarms).toEqual([expect.objectContaining({ lane: LANE, digest: "foreign" })]);
  });

  it("stores the new versions of the lane's objects with the outcome", async () => {
    const id = await queue();
    chain.written = new Map([[LANE, { objectId: LANE, version: "2", digest: "d2" }]]);
    await run([id]);
    expect(await database.query("SELECT version, digest FROM lane WHERE id = $1", [LANE])).toEqual([
      { version: "2", digest: "d2" },
    ]);
  });

  it("writes all of an outcome or nothing", async () => {
    const id = await queue();
    let attempts = 0;
    chain.onLanded = () => {
      if (++attempts === 1) throw new Error("the database is gone for a moment");
    };
    await run([id]);
    expect(attempts).toBe(2);
    expect(chain.executed).toHaveLength(1);
    expect(await stateOf(id)).toBe("landed");
  });

  it("fails an operation whose row is gone, and continues with the next", async () => {
    const gone = await queue();
    const id = await queue();
    chain.missing = gone;
    await run([id]);
    expect(await stateOf(gone)).toBe("failed");
    expect(chain.landed).toEqual([id]);
  });

  it("wakes the watchers of a subject only once the outcome can be read", async () => {
    const id = await queue();
    const told = new Promise<string | undefined>((resolve) => {
      chain.onEnded = (subjectId) => resolve(stateOf(subjectId));
    });
    await run([id]);
    expect(await told).toBe("landed");
  });

  it("limits a batch by its bytes, and sends an operation above the limit alone", async () => {
    const ids = await Promise.all([queue(), queue(), queue()]);
    chain.sizeBytes = 60 * 1024;
    await run(ids);
    expect(chain.executed).toHaveLength(3);
    expect(chain.landed.toSorted()).toEqual(ids.toSorted());
  });
});

async function queue(
  kind: "presign" | "sign" = "presign",
  priority = 50,
  subjectId = newId(),
): Promise<string> {
  await enqueueOperation(database, { id: newId(), network: NETWORK, kind, subjectId, priority });
  return subjectId;
}

async function stateOf(subjectId: string): Promise<string | undefined> {
  const [row] = await database.query<{ state: string }>(
    "SELECT state FROM chain_operation WHERE subject_id = $1",
    [subjectId],
  );
  return row?.state;
}

const signals = createLocalSignals();

function start(): Submitter {
  const error = (fields: object) => {
    alarms.push(fields);
    onAlarm();
  };
  const log = { ...silentLog, info: () => {}, warn: () => {}, error };
  const lanes = [chain.lane()];
  const created = createSubmitter({
    clock: systemClock,
    database,
    network: NETWORK,
    lanes,
    reader: chain,
    signals,
    kinds: [chain.kind()],
    log,
    retryBaseMs: 5,
    onBlocked: (cause) => blocked.push(cause),
  });
  created.start();
  return created;
}

async function run(subjectIds: readonly string[]): Promise<void> {
  const ended = subjectIds.map(
    (id) => new Promise<void>((resolve) => signals.subscribe(`operation:${id}`, () => resolve())),
  );
  await submitter?.stop();
  submitter = start();
  await Promise.all(ended);
}

const abort = (module: string, code: number): ExecutionFailure => ({
  kind: "MoveAbort",
  message: `abort ${code} in ${module}`,
  abort: { module, code },
});
