import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { DryRunRefused } from "../../../src/chain/build-transaction.ts";
import type { Lane } from "../../../src/chain/lane.ts";
import { enqueueOperation, type OperationKind } from "../../../src/chain/operation.ts";
import { nextOperations, OperationTakenError, storeTransaction } from "../../../src/chain/outbox.ts";
import type { ExecutionFailure } from "../../../src/chain/reader.ts";
import type { SendResult } from "../../../src/chain/send-transaction.ts";
import { createSubmitter, type Submitter } from "../../../src/chain/submitter.ts";
import { createLocalSignals } from "../../../src/coordination/local-signals.ts";
import type { Database } from "../../../src/store/database.ts";
import { newId } from "../../../src/store/ids.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../support/database.ts";

const NETWORK = "localnet";
const LANE = "0xcap";

let database: Database;
let submitter: Submitter | undefined;
let chain: FakeChain;
/** What was logged as an error. */
let alarms: object[] = [];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);

afterAll(() => database.close());

beforeEach(() => {
  chain = new FakeChain();
  alarms = [];
});

afterEach(async () => {
  await submitter?.stop();
  submitter = undefined;
  await database.query("DELETE FROM chain_operation");
  await database.query("DELETE FROM chain_transaction");
});

describe("the submitter", () => {
  it("has the bytes, the signatures and the digest in the database before it sends them", async () => {
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

  it("sends the very same bytes again when it died between storing and sending", async () => {
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

  it("lands an operation once when the reply to its transaction was lost", async () => {
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

  it("lands the others of a batch that one operation spoilt, and fails that one once", async () => {
    const ids = await Promise.all([queue(), queue(), queue()]);
    const guilty = ids[1] ?? "";
    chain.refuse = (subjects) => (subjects.includes(guilty) ? abort("coordinator_inner", 6) : undefined);
    await run(ids);
    expect(chain.landed.toSorted()).toEqual(ids.filter((id) => id !== guilty).toSorted());
    expect(chain.failed).toEqual([guilty]);
    expect(await stateOf(guilty)).toBe("failed");
  });

  it("does the same when only the real execution finds the fault", async () => {
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

  it("keeps the queue while only the operator can help", async () => {
    const id = await queue();
    let refusals = 0;
    chain.refuse = () => (++refusals <= 2 ? abort("treasury", 8) : undefined);
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(chain.landed).toEqual([id]);
  });

  it("never fails an operation because its one-time mark is used", async () => {
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

  it("takes an operation as done when its mark is already on the chain", async () => {
    const id = await queue();
    chain.refuse = () => abort("dynamic_field", 0);
    chain.hasMark = true;
    await run([id]);
    expect(chain.failed).toEqual([]);
    expect(await stateOf(id)).toBe("landed");
  });

  it("gives the operations of a transaction that can never land back to the queue", async () => {
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

  it("alarms when a transaction that is not its own has used a lane's input", async () => {
    const id = await queue();
    const deaths = ["unknown", "own"];
    chain.onSend = async (digest) => {
      const byDigest = deaths.shift();
      if (byDigest === undefined) return chain.execute(digest);
      const own = chain.sent[0]!.digest;
      return { kind: "dead", reason: "spent", byDigest: byDigest === "own" ? own : byDigest };
    };
    await run([id]);
    expect(chain.landed).toEqual([id]);
    expect(alarms).toEqual([expect.objectContaining({ byDigest: "unknown" })]);
  });

  it("writes nothing by halves when the outcome cannot be written", async () => {
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

  it("fails an operation whose row is gone, and goes on with the next", async () => {
    const gone = await queue();
    const id = await queue();
    chain.missing = gone;
    await run([id]);
    expect(await stateOf(gone)).toBe("failed");
    expect(chain.landed).toEqual([id]);
  });

  it("cuts a batch by bytes, and sends one that is larger than the bound by itself", async () => {
    const ids = await Promise.all([queue(), queue(), queue()]);
    chain.sizeBytes = 60 * 1024;
    await run(ids);
    expect(chain.executed).toHaveLength(3);
    expect(chain.landed.toSorted()).toEqual(ids.toSorted());
  });
});

describe("the outbox", () => {
  it("gives the most urgent kind first, and what must go alone by itself", async () => {
    const presign = await queue("presign", 50);
    const sign = await queue("sign", 10);
    const alone = await queue("sign", 10);
    await database.query("UPDATE chain_operation SET alone = true WHERE subject_id = $1", [alone]);
    const next = async () => (await nextOperations(database, NETWORK, () => 10)).map((o) => o.subjectId);
    expect(await next()).toEqual([sign]);
    await database.query("UPDATE chain_operation SET state = 'landed' WHERE subject_id = $1", [sign]);
    expect(await next()).toEqual([alone]);
    await database.query(
      "UPDATE chain_operation SET not_before = now() + interval '1 hour' WHERE subject_id = $1",
      [alone],
    );
    expect(await next()).toEqual([presign]);
  });

  it("stores nothing when another process has taken one of the operations", async () => {
    const subject = await queue();
    const [operation] = await nextOperations(database, NETWORK, () => 1);
    await database.query("UPDATE chain_operation SET state = 'landed' WHERE subject_id = $1", [subject]);
    await expect(
      database.transaction((sql) => storeTransaction(sql, transaction("a"), [operation?.id ?? ""])),
    ).rejects.toThrow(OperationTakenError);
    expect(await database.query("SELECT digest FROM chain_transaction")).toEqual([]);
  });

  it("lets one lane have one transaction without an outcome", async () => {
    await database.transaction((sql) => storeTransaction(sql, transaction("a"), []));
    await expect(database.transaction((sql) => storeTransaction(sql, transaction("b"), []))).rejects.toThrow(
      /chain_transaction_unresolved_lane/,
    );
  });

  it("queues an operation once for its subject", async () => {
    const subject = await queue();
    await queue("presign", 50, subject);
    expect(await database.query("SELECT id FROM chain_operation")).toHaveLength(1);
  });
});

function transaction(digest: string) {
  return { digest, bytes: new Uint8Array(3), signatures: [], network: NETWORK, sender: "0x1", lane: LANE };
}

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
  const log = { info: () => {}, warn: () => {}, error: (fields: object) => void alarms.push(fields) };
  const created = createSubmitter({ database, lane: chain.lane(), signals, kinds: [chain.kind()], log });
  created.start();
  return created;
}

/** Runs a submitter until all these operations have ended. */
async function run(subjectIds: readonly string[]): Promise<void> {
  const ended = subjectIds.map(
    (id) => new Promise<void>((resolve) => signals.subscribe(`operation:${id}`, () => resolve())),
  );
  submitter = start();
  await Promise.all(ended);
}

const abort = (module: string, code: number): ExecutionFailure => ({
  kind: "MoveAbort",
  message: `abort ${code} in ${module}`,
  abort: { module, code },
});

/** A chain that executes what it is sent once, and a kind whose subjects are nothing but their ids. */
class FakeChain {
  built = 0;
  readonly sent: { digest: string; bytes: Uint8Array }[] = [];
  readonly executed: string[] = [];
  readonly landed: string[] = [];
  readonly failed: string[] = [];
  refuse: ((subjects: readonly string[]) => ExecutionFailure | undefined) | undefined;
  abortOnExecution: ((subjects: readonly string[]) => ExecutionFailure | undefined) | undefined;
  onSend: ((digest: string) => Promise<SendResult>) | undefined;
  onLanded: (() => void) | undefined;
  missing: string | undefined;
  hasMark = false;
  sizeBytes = 100;
  readonly #subjectsOf = new Map<string, readonly string[]>();

  lane(): Lane {
    return {
      network: NETWORK,
      sender: "0x1",
      id: LANE,
      build: async (addCalls) => {
        const subjects: string[] = [];
        addCalls({ payPresigns: (call: { subjects: string[] }) => subjects.push(...call.subjects) } as never);
        const failure = this.refuse?.(subjects);
        if (failure) throw new DryRunRefused(failure);
        const bytes = new TextEncoder().encode(`${++this.built}:${subjects.join()}`);
        const digest = createHash("sha256").update(bytes).digest("hex");
        this.#subjectsOf.set(digest, subjects);
        return { digest, bytes, signatures: ["signature"] };
      },
      send: async ({ digest, bytes }) => {
        this.sent.push({ digest, bytes });
        return this.onSend ? this.onSend(digest) : this.execute(digest);
      },
    };
  }

  async execute(digest: string): Promise<SendResult> {
    const error = this.abortOnExecution?.(this.#subjectsOf.get(digest) ?? []);
    if (error) return { kind: "aborted", error, gasUsedMist: 1n };
    if (!this.executed.includes(digest)) this.executed.push(digest);
    return { kind: "landed", transaction: { digest, events: [] }, gasUsedMist: 1n };
  }

  kind(): OperationKind<string> {
    return {
      name: "presign",
      priority: 50,
      batchCount: 10,
      load: async (_sql, ids) => new Map(ids.filter((id) => id !== this.missing).map((id) => [id, id])),
      sizeBytes: () => this.sizeBytes,
      add: (calls, subjects) => calls.payPresigns({ subjects } as never),
      landed: async (_sql, subject) => {
        this.onLanded?.();
        this.landed.push(subject);
      },
      failed: async (_sql, subject) => void this.failed.push(subject),
      adopt: async () => this.hasMark,
    };
  }
}
