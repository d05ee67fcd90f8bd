/** Calls that share statements get the verdicts that they get alone, on a real PostgreSQL. */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { createPresignSession } from "../../src/service/presigns/presign-session.ts";
import { createBatchedLooks } from "../../src/service/signing/batched-looks.ts";
import { lookBeforeReserving, requireSignable } from "../../src/service/signing/look-before-reserving.ts";
import { readShownSignRequest } from "../../src/service/signing/shown-sign-request.ts";
import { readSignRequest } from "../../src/service/signing/sign-request.ts";
import { watchSignRequest } from "../../src/service/signing/watch-sign-request.ts";
import type { Reaching } from "../../src/service/users/reach.ts";
import { presignSession } from "../support/chain/chain-bytes.ts";
import { signSteps } from "../support/crypto/sign-steps.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import {
  dwalletOf,
  keyed,
  objectId,
  projectWith,
  readyPresigns,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../support/database/rows.ts";
import { silentLog } from "../support/silent-log.ts";

const CALL_COUNT = 64;
const database = await openRaceDatabase({ count: 4, because: "calls alone run at the same time" });
afterAll(() => database?.close());

/** One call of a caller. */
type Call = (db: Queryable) => Promise<unknown>;

describe.skipIf(database === undefined)("calls that share statements", () => {
  const db = database!;
  const signals = createLocalSignals();
  const steps = signSteps(db, signals);
  let calls: Call[];
  let own: { projectId: string; dwallet: TestDWalletRow };

  beforeAll(async () => {
    const [projectId, otherId] = [await projectWith(db, 10_000n), await projectWith(db, 10_000n)];
    const users = { projectId, allowance: { userReferences: ["ann"], dwalletIds: undefined } };
    const named = { projectId, allowance: { userReferences: undefined, dwalletIds: [objectId()] } };
    const callers: Reaching[] = [{ projectId }, { projectId: otherId }, users, named];
    const dwallets = [
      await dwalletOf(db, projectId),
      await dwalletOf(db, projectId, { userReference: "ann" }),
      await dwalletOf(db, projectId, { userReference: "ben" }),
      await dwalletOf(db, otherId),
    ];
    const owners = [projectId, projectId, projectId, otherId];
    own = { projectId, dwallet: dwallets[0]! };
    const requests: string[] = [];
    for (const [index, dwallet] of dwallets.entries()) {
      await readyPresigns(db, dwallet.bucket, 2);
      for (let count = 0; count < 2; count++) requests.push(await steps.reserve(owners[index]!, dwallet));
    }
    await steps.submit(projectId, requests[1]!);
    await steps.expire(requests[2]!);
    await db.query("UPDATE project_user SET frozen_at = now() WHERE project_id = $1 AND reference = 'ben'", [
      projectId,
    ]);
    await db.query(
      `INSERT INTO idempotency_key (scope, network, key, method, fingerprint, subject_id, expires_at)
       VALUES ($1, 'localnet', 'known', 'tss.v1.Signing/ReserveSign', $2, $3, now() + interval '1 hour'),
              ($1, 'localnet', 'expired', 'tss.v1.Signing/ReserveSign', $2, $3, now() - interval '1 hour')`,
      [projectId, keyed("known").fingerprint, requests[0]],
    );
    const left = await dwalletOf(db, projectId, { state: "Left" });
    const waiting = await dwalletOf(db, projectId, { state: "AwaitingKeyHolderSignature" });
    const ids = [...requests, newId(), "no id"];
    const dwalletIds = [...dwallets, left, waiting].map((dwallet) => dwallet.objectId).concat(objectId());
    const keys = [undefined, keyed("known"), keyed("known", 1), keyed("expired"), keyed("unknown")];
    calls = callers.flatMap((caller) => [
      ...ids.map(
        (id): Call =>
          (on) =>
            readSignRequest(on, { id, caller }),
      ),
      ...ids.map(
        (id): Call =>
          (on) =>
            readShownSignRequest(on, { id, caller }),
      ),
      ...dwalletIds.flatMap((dwalletId) =>
        keys.map(
          (idempotency): Call =>
            async (on) => {
              const keyScope = { scope: caller.projectId, network: "localnet" };
              const looked = await lookBeforeReserving(on, { caller, keyScope, dwalletId, idempotency });
              return looked.earlierId ?? requireSignable(looked, TEST_TRIPLE);
            },
        ),
      ),
    ]);
  });

  it("get the same verdicts as alone, whatever calls are their neighbours", async () => {
    const chosen = fc.array(fc.nat(), { minLength: CALL_COUNT, maxLength: CALL_COUNT });
    await fc.assert(
      fc.asyncProperty(chosen, async (numbers) => {
        const picked = numbers.map((number) => calls[number % calls.length]!);
        const together = counted(db);
        const shared = await verdicts(picked.map((call) => call(together)));
        const alone = await verdicts(picked.map((call) => call(counted(db))));
        expect(shared).toEqual(alone);
        // Three kinds of statements; a malformed id makes the calls of two of them run alone.
        const malformedCount = shared.filter((verdict) => verdict === "22P02").length;
        if (malformedCount === 0) expect(together.statementCount).toBeLessThanOrEqual(3);
      }),
      { numRuns: 10 },
    );
  });

  it("find a request by its id in capitals, which is the same UUID", async () => {
    const { projectId, dwallet } = own;
    await readyPresigns(db, dwallet.bucket, 1);
    const id = await steps.reserve(projectId, dwallet);
    const asked = { id: id.toUpperCase(), caller: { projectId } };
    expect(await readSignRequest(db, asked)).toMatchObject({ id });
    expect(await readShownSignRequest(db, asked)).toMatchObject({ id });
  });

  it("complete each of their requests once, and none of another state", async () => {
    const { projectId, dwallet } = own;
    const completed: string[] = [];
    const observed = signSteps(db, signals, {
      completed: ({ preparedSeconds }) => void completed.push(typeof preparedSeconds),
      failed: () => {},
    });
    await readyPresigns(db, dwallet.bucket, 12);
    const ids: string[] = [];
    for (let count = 0; count < 12; count++) ids.push(await steps.reserve(projectId, dwallet));
    for (const id of ids.slice(0, 8)) await steps.submit(projectId, id);
    for (const id of ids.slice(0, 6)) await steps.land(id);
    // Two passes settle the same sessions.
    await Promise.all([...ids, ...ids].map((id) => observed.complete(id, dwallet)));
    const states = await Promise.all(ids.map(async (id) => (await readSignRequest(db, { id }))?.status));
    const of = (count: number, state: string) => Array<string>(count).fill(state);
    expect(states).toEqual([...of(6, "completed"), ...of(2, "queued"), ...of(4, "prepared")]);
    expect(completed).toEqual(of(6, "number"));
  });

  it("fill each of their presigns with its own bytes, except one on another curve", async () => {
    const session = createPresignSession({ network: "localnet", signals, log: silentLog });
    const rows = Array.from({ length: 8 }, () => ({ subjectId: newId(), objectId: objectId() }));
    const key = objectId();
    for (const [index, row] of rows.entries())
      await db.query(
        `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, session_bytes,
           presign_id, state) VALUES ($1, 'localnet', $2, 0, $3, $4, $5, 'pending')`,
        [row.subjectId, index === 3 ? 1 : 0, key, Uint8Array.of(index), row.objectId],
      );
    const outputs = rows.map((_, index) => Uint8Array.of(1, index));
    const settled = await Promise.allSettled(
      rows.map((row, index) =>
        session.settle(db, row, presignSession(row.objectId, { Completed: outputs[index]! })),
      ),
    );
    expect(settled.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([3]);
    const filled = await db.query<{ presign: Uint8Array | null; state: string }>(
      "SELECT presign, state FROM presign WHERE network_encryption_key_id = $1 ORDER BY session_bytes",
      [key],
    );
    const expected = outputs.map((presign, index) =>
      index === 3 ? { presign: null, state: "pending" } : { presign, state: "ready" },
    );
    expect(filled).toEqual(expected);
  });

  it("are not cancelled with a neighbour", async () => {
    const { projectId, dwallet } = own;
    await readyPresigns(db, dwallet.bucket, 1);
    const id = await steps.reserve(projectId, dwallet);
    const deps = { database: db, clock: systemClock, signals, looks: createBatchedLooks(db, systemClock) };
    const watches = Array.from({ length: 8 }, () => {
      const ending = new AbortController();
      const watching = watchSignRequest(
        deps,
        { signRequestId: id, caller: { projectId }, cursor: "" },
        ending.signal,
        ({ row }) => row?.status,
      );
      return { ending, first: watching.next(), watching };
    });
    watches[0]!.ending.abort(new Error("the caller has left"));
    const first = await Promise.allSettled(watches.map((watch) => watch.first));
    expect(first.map(({ status }) => status)).toEqual(["rejected", ...Array(7).fill("fulfilled")]);
    const second = Promise.allSettled(watches.slice(1).map(({ watching }) => watching.next()));
    watches[1]!.ending.abort(new Error("the caller has left"));
    await steps.submit(projectId, id);
    const states = await second;
    expect(states.map((state) => state.status === "fulfilled" && state.value.value)).toEqual([
      false,
      ...Array(6).fill("queued"),
    ]);
  });
});

/** A handle whose calls share nothing with those of another one. */
function counted(db: Queryable) {
  const handle = {
    statementCount: 0,
    query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
      handle.statementCount++;
      return db.query<Row>(statement, parameters);
    },
  };
  return handle;
}

/** Returns the result of each call, or the reason or the code of its error. */
async function verdicts(running: readonly Promise<unknown>[]): Promise<unknown[]> {
  return (await Promise.allSettled(running)).map((end) => {
    if (end.status === "fulfilled") return end.value;
    const { reason, code } = end.reason as { reason?: string; code?: string };
    return reason ?? code ?? String(end.reason);
  });
}
