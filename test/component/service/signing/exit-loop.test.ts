/** The loop of exits: what it announces, and how long it pauses. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createExitLoop } from "../../../../src/service/signing/loops/exit-loop.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createPauseClock } from "../../../support/pause-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let steps: ReturnType<typeof signSteps>;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = signSteps(database, createLocalSignals());
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("DELETE FROM treasury_consent", []);
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 3);
});

it("announces each reservation that it ends, its presign, and then the exit in the outbox", async () => {
  const reserved = [await steps.reserve(projectId, dwallet), await steps.reserve(projectId, dwallet)];
  await settle();
  const { loop, clock, announced } = loopOf();
  loop.start();
  await clock.paused();
  await loop.stop();
  expect([announced[0], announced[2]].sort()).toEqual(reserved.map(topics.sign).sort());
  expect([announced[1], announced[3]]).toEqual(Array(2).fill(topics.presignReady("localnet")));
  expect(announced.slice(4)).toEqual([topics.outbox("localnet")]);
});

it("looks again soon while a submitted request holds an exit up, and rests once it is queued", async () => {
  const request = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, request);
  await settle();
  const { loop, clock, announced } = loopOf();
  loop.start();
  expect(await clock.paused()).toBe(500);
  expect(announced).toEqual([]);
  await steps.land(request);
  await steps.complete(request, dwallet);
  clock.elapse();
  expect(await clock.paused()).toBe(30_000);
  expect(announced).toEqual([topics.outbox("localnet")]);
  await loop.stop();
});

it("lets an exit go before its submitted requests have ended once it has waited for the longest time", async () => {
  await steps.submit(projectId, await steps.reserve(projectId, dwallet));
  await settle();
  await database.query("UPDATE treasury_consent SET created_at = now() - interval '3 minutes'", []);
  const patient = loopOf({ settleMaxMs: 240_000 });
  patient.loop.start();
  await patient.clock.paused();
  await patient.loop.stop();
  expect(patient.announced).toEqual([]);
  const { loop, clock, announced } = loopOf({ settleMaxMs: 120_000 });
  loop.start();
  await clock.paused();
  await loop.stop();
  expect(announced).toEqual([topics.outbox("localnet")]);
});

it("ends the reservations of one project at a time, so that replicas do not wait for each other's projects", async () => {
  const reserved = [await steps.reserve(projectId, dwallet)];
  await settle();
  const other = await projectWith(database, 1_000n);
  const second = await dwalletOf(database, other);
  await readyPresigns(database, second.bucket, 1);
  reserved.push(await steps.reserve(other, second));
  await settle({ projectId: other, dwallet: second });
  const { loop, clock, announced } = loopOf();
  loop.start();
  await clock.paused();
  await loop.stop();
  const ended = announced.filter((topic) => reserved.map(topics.sign).includes(topic));
  expect(ended.sort()).toEqual(reserved.map(topics.sign).sort());
});

it("leaves the reservations of a dWallet whose exit has failed, and rests while another network's settles", async () => {
  const kept = await steps.reserve(projectId, dwallet);
  await settle();
  await database.query(
    "UPDATE treasury_consent SET state = 'failed', failure_reason = 'x', failure_message = '' WHERE dwallet_id = $1",
    [dwallet.rowId],
  );
  const leaving = await dwalletOf(database, projectId);
  await settle({ projectId, dwallet: leaving });
  const first = loopOf();
  first.loop.start();
  await first.clock.paused();
  await first.loop.stop();
  expect(first.announced).toEqual([topics.outbox("localnet")]);
  expect(await readSignRequest(database, { id: kept })).toMatchObject({ status: "prepared" });
  const abroad = await dwalletOf(database, projectId);
  await settle({ projectId, dwallet: abroad }, "testnet");
  const second = loopOf();
  second.loop.start();
  expect(await second.clock.paused()).toBe(30_000);
  await second.loop.stop();
});

it("stops after a hundred reservations, and lets the next pass end the others", async () => {
  // Three presigns are ready already.
  await readyPresigns(database, dwallet.bucket, 98);
  await database.query(
    `WITH held AS (
       UPDATE presign SET state = 'held' WHERE network_encryption_key_id = $1 RETURNING id
     ), project AS (
       UPDATE project SET open_reservations = 101 WHERE id = $2 RETURNING id
     )
     INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
       hash_scheme, message, price_micro_usd, status, expires_at)
     SELECT gen_random_uuid(), project.id, $3, held.id, 'localnet', 0, 0, 0, '', 0, 'prepared', now()
     FROM held, project`,
    [dwallet.bucket.networkEncryptionKeyId, projectId, dwallet.rowId],
  );
  await settle();
  const { loop, announced, signals } = loopOf();
  const stopped = new Promise<void>((resolve) => {
    signals.subscribe(topics.presignReady("localnet"), () => resolve(loop.stop()));
  });
  loop.start();
  await stopped;
  expect(announced.filter((topic) => topic === topics.presignReady("localnet"))).toHaveLength(100);
});

it("begins at once with an exit that is announced while it rests", async () => {
  const { loop, clock, announced, signals } = loopOf();
  loop.start();
  await clock.paused();
  await settle();
  const queued = new Promise<void>((resolve) => signals.subscribe(topics.outbox("localnet"), resolve));
  signals.notify(topics.leaving("localnet"));
  await queued;
  await loop.stop();
  expect(announced).toEqual([topics.leaving("localnet"), topics.outbox("localnet")]);
});

/** A loop whose signals reach every process, with what it announces. */
function loopOf({ settleMaxMs }: { readonly settleMaxMs?: number } = {}) {
  const local = createLocalSignals();
  const announced: string[] = [];
  const signals = {
    ...local,
    isComplete: () => true,
    notify(topic: string) {
      announced.push(topic);
      local.notify(topic);
    },
  };
  const clock = createPauseClock();
  const options = { database, network: "localnet", signals, clock, log: silentLog, settleMaxMs };
  return { loop: createExitLoop(options), clock, announced, signals };
}

/** Records the owner's consent to the exit of a dWallet, which waits for its sign requests. */
async function settle(of = { projectId, dwallet }, network = "localnet"): Promise<void> {
  await database.query(
    `INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient, nonce,
                                   expires_epoch, public_key, signature, state)
     VALUES ($1, $2, $3, $4, 'leave', '\\x00', $5, $6, 0, 10, '\\x00', '\\x00', 'settling')`,
    [newId(), of.projectId, network, of.dwallet.rowId, objectId(), objectId()],
  );
}
