/** Each step of a sign request changes its own rows, among requests of all states of two projects. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createExitLoop } from "../../../../src/service/signing/loops/exit-loop.ts";
import {
  captureLostSubmission,
  endReservationOf,
  refillUserHalf,
} from "../../../../src/service/signing/lost-sign-requests.ts";
import { failSignRequest } from "../../../../src/service/signing/sign-operation.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { type ChangedRows, changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const TABLES = ["project", "dwallet", "presign", "sign_request"];
/** Columns of a project. */
const HELD = ["held_micro_usd", "open_reservations"];
const CHARGED = ["balance_micro_usd", ...HELD];
const LAPSED = ["held_micro_usd", "lapsed_at", "lapsed_reservations", "open_reservations"];
const REFUNDED = ["balance_micro_usd"];
const FAILED = ["failure_message", "failure_reason", "status", "updated_at"];

interface Requests {
  readonly projectId: string;
  readonly dwallet: TestDWalletRow;
  readonly otherDWallet: TestDWalletRow;
  readonly prepared: string;
  readonly otherPrepared: string;
  readonly queued: string;
  readonly submitted: string;
}

const signals = createLocalSignals();
let database: Database;
let steps: ReturnType<typeof signSteps>;
let own: Requests;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = signSteps(database, signals);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await fill();
  own = await fill();
  for (const table of TABLES.slice(1))
    await database.query(`UPDATE ${table} SET updated_at = updated_at - interval '1 day'`, []);
});

describe("a step of a sign request changes only its rows:", () => {
  it("the reservation", async () => {
    let made = "";
    const changed = await changes(async () => {
      made = await steps.reserve(own.projectId, own.dwallet);
    });
    expect(changed).toEqual({
      project: { [own.projectId]: HELD },
      presign: { [await presignOf(made)]: ["state", "updated_at"] },
      sign_request: { [made]: ["new"] },
    });
  });

  it("the submission", async () => {
    expect(await changes(() => steps.submit(own.projectId, own.prepared))).toEqual({
      project: { [own.projectId]: CHARGED },
      sign_request: { [own.prepared]: ["status", "updated_at", "user_sign_message"] },
    });
  });

  it("the landing", async () => {
    expect(await changes(() => steps.land(own.queued))).toEqual({
      presign: { [await presignOf(own.queued)]: ["state", "updated_at"] },
      sign_request: { [own.queued]: ["sign_session_id", "status", "tx_digest", "updated_at"] },
    });
  });

  it("the signature", async () => {
    expect(await changes(() => steps.complete(own.submitted, own.dwallet))).toEqual({
      sign_request: { [own.submitted]: ["signature", "status", "updated_at"] },
    });
  });

  it("the failure before it landed", async () => {
    expect(await changes(() => steps.refuse(own.queued))).toEqual({
      project: { [own.projectId]: REFUNDED },
      presign: { [await presignOf(own.queued)]: ["state", "updated_at"] },
      sign_request: { [own.queued]: [...FAILED, "refunded"].sort() },
    });
  });

  it("the failure after it landed", async () => {
    const changed = await changes(() => steps.reject(own.submitted));
    expect(changed).toEqual({
      project: { [own.projectId]: [...REFUNDED, "refund_day", "refunds_on_day"].sort() },
      sign_request: { [own.submitted]: [...FAILED, "refunded"].sort() },
    });
  });

  it("the expiry", async () => {
    expect(await changes(() => steps.expire(own.prepared))).toEqual({
      project: { [own.projectId]: LAPSED },
      presign: { [await presignOf(own.prepared)]: ["returned_at", "state", "updated_at"] },
      sign_request: { [own.prepared]: ["expires_at", ...FAILED].sort() },
    });
  });

  it("the exit of its dWallet, which ends the reservations of that dWallet alone", async () => {
    await settling(own.dwallet, "localnet");
    // Neither another network's exit nor one that is over ends a reservation.
    await settling(own.otherDWallet, "testnet");
    const [reserved] = [own.prepared];
    const changed = await changes(() => exitPass());
    expect(changed["project"]).toEqual({ [own.projectId]: HELD });
    expect(changed["sign_request"]).toEqual({ [reserved]: FAILED });
    expect(changed["presign"]).toEqual({
      [await presignOf(reserved)]: ["returned_at", "state", "updated_at"],
    });
    expect(changed["dwallet"]).toBeUndefined();
    await database.query(
      "UPDATE treasury_consent SET network = 'localnet', state = 'failed', failure_reason = 'x', failure_message = ''",
      [],
    );
    expect(await changes(() => exitPass())).toEqual({});
  });

  it("the submission that a restored database lacks", async () => {
    const half = Uint8Array.of(1);
    expect(await changes(() => captureLostSubmission(database, own.prepared, half))).toEqual({
      project: { [own.projectId]: CHARGED },
      sign_request: { [own.prepared]: ["status", "updated_at", "user_sign_message"] },
    });
    for (const id of [own.queued, own.submitted])
      expect(await changes(() => captureLostSubmission(database, id, half))).toEqual({});
  });

  it("the half that retention has emptied", async () => {
    await database.query("UPDATE sign_request SET user_sign_message = '' WHERE id = $1", [own.submitted]);
    const half = Uint8Array.of(2);
    for (const id of [own.queued, own.prepared])
      expect(await changes(() => refillUserHalf(database, id, half))).toEqual({});
    expect(await changes(() => refillUserHalf(database, own.submitted, half))).toEqual({
      sign_request: { [own.submitted]: ["user_sign_message"] },
    });
  });

  it("the end of a reservation whose presign the chain knows", async () => {
    expect(await changes(async () => endReservationOf(database, await presignOf(own.prepared)))).toEqual({
      project: { [own.projectId]: HELD },
      sign_request: { [own.prepared]: FAILED },
    });
    for (const id of [own.queued, own.submitted])
      expect(await changes(async () => endReservationOf(database, await presignOf(id)))).toEqual({});
  });
});

describe("a step that comes again, or too late,", () => {
  const caller = () => ({ projectId: own.projectId, network: "localnet", origin: TEST_ORIGIN });
  const submitWith = (id: string, checkHalf: () => Promise<void>) =>
    submit({ database, signals, checkHalf }, caller(), {
      signRequestId: id,
      userSignMessage: layoutOfSignMessage(),
    });

  it("verifies no half of a reservation that has ended", async () => {
    // The exit ends it before its time.
    await settling(own.dwallet, "localnet");
    await exitPass();
    let checkedCount = 0;
    const submitting = submitWith(own.prepared, async () => void checkedCount++);
    await expect(submitting).rejects.toMatchObject({ reason: "WRONG_STATE" });
    await database.query("UPDATE sign_request SET expires_at = now() WHERE id = $1", [own.otherPrepared]);
    const late = submitWith(own.otherPrepared, async () => void checkedCount++);
    await expect(late).rejects.toMatchObject({ reason: "WRONG_STATE" });
    expect(checkedCount).toBe(0);
  });

  it("returns the request to a call that another one overtook", async () => {
    const row = await submitWith(own.prepared, async () => {
      await steps.submit(own.projectId, own.prepared);
    });
    expect(row).toMatchObject({ status: "queued", wasSubmitted: true });
    const ended = submitWith(own.otherPrepared, () => steps.expire(own.otherPrepared));
    await expect(ended).rejects.toMatchObject({ reason: "WRONG_STATE" });
  });

  it("is observed once", async () => {
    const observed: string[] = [];
    const watched = signSteps(database, signals, {
      completed: ({ preparedSeconds }) => void observed.push(`completed ${typeof preparedSeconds}`),
      failed: (reason) => void observed.push(reason),
    });
    for (let count = 0; count < 2; count++) {
      await watched.complete(own.submitted, own.dwallet);
      await watched.reject(own.submitted);
    }
    await watched.land(own.queued);
    for (let count = 0; count < 2; count++) await watched.reject(own.queued);
    expect(observed).toEqual(["completed number", "NETWORK_REJECTED"]);
  });

  it("tells the watchers of each reservation that an exit ends", async () => {
    const another = await steps.reserve(own.projectId, own.dwallet);
    const heard: string[] = [];
    for (const id of [own.prepared, another]) signals.subscribe(topics.sign(id), () => heard.push(id));
    await settling(own.dwallet, "localnet");
    await exitPass();
    expect(heard.sort()).toEqual([own.prepared, another].sort());
  });
});

describe("a failure", () => {
  it("without refunds left keeps the price, and says so", async () => {
    const why = { from: "submitted", reason: "NETWORK_REJECTED", message: "refused" } as const;
    expect(await failSignRequest(database, own.submitted, { ...why, refundsPerDay: 0 })).toBe(true);
    expect(await failureOf(own.submitted)).toEqual({
      message: "refused; not refunded: the project has used up its refunds of the day",
      refunded: false,
    });
    const owners = { from: "queued", reason: "DWALLET_LEFT", message: "left", isOwnersDoing: true } as const;
    expect(await failSignRequest(database, own.queued, { ...owners, refundsPerDay: 1 })).toBe(true);
    expect(await failureOf(own.queued)).toEqual({ message: "left", refunded: true });
  });

  it("of a half that the service has verified is refunded without a limit, unless the owner caused it", async () => {
    // EdDSA on its curve.
    await database.query("UPDATE sign_request SET curve = 2, signature_algorithm = 0 WHERE project_id = $1", [
      own.projectId,
    ]);
    const why = { reason: "NETWORK_REJECTED", message: "refused", refundsPerDay: 0 } as const;
    await failSignRequest(database, own.submitted, { ...why, from: "submitted" });
    expect(await failureOf(own.submitted)).toEqual({ message: "refused", refunded: true });
    await failSignRequest(database, own.queued, { ...why, from: "queued", isOwnersDoing: true });
    expect(await failureOf(own.queued)).toMatchObject({ refunded: false });
  });
});

const changes = (action: () => Promise<unknown>): Promise<ChangedRows> =>
  changedRows(database, TABLES, action);

async function presignOf(signRequestId: string): Promise<string> {
  const [row] = await database.query<{ id: string }>(
    "SELECT presign_id AS id FROM sign_request WHERE id = $1",
    [signRequestId],
  );
  return row!.id;
}

async function failureOf(id: string) {
  const [row] = await database.query(
    "SELECT failure_message AS message, refunded FROM sign_request WHERE id = $1",
    [id],
  );
  return row;
}

/** Records an owner's consent to the exit of a dWallet that waits for its sign requests. */
async function settling({ rowId }: TestDWalletRow, network: string): Promise<void> {
  await database.query(
    `INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient, nonce,
                                   expires_epoch, public_key, signature, state)
     VALUES ($1, $2, $3, $4, 'leave', '\\x00', $5, $6, 0, 10, '\\x00', '\\x00', 'settling')`,
    [newId(), own.projectId, network, rowId, objectId(), objectId()],
  );
}

/** Runs a pass of the loop of exits. */
async function exitPass(): Promise<void> {
  const clock = createManualClock();
  const loop = createExitLoop({ database, network: "localnet", signals, clock, log: silentLog });
  loop.start();
  await loop.stop();
}

/** A project with two dWallets and requests in every open state. */
async function fill(): Promise<Requests> {
  const projectId = await projectWith(database, 1_000n);
  const dwallet = await dwalletOf(database, projectId);
  const { networkEncryptionKeyId } = dwallet.bucket;
  const otherDWallet = await dwalletOf(database, projectId, { networkEncryptionKeyId });
  await readyPresigns(database, dwallet.bucket, 7);
  const reserve = () => steps.reserve(projectId, dwallet);
  const [prepared, queued, submitted] = [await reserve(), await reserve(), await reserve()];
  const otherPrepared = await steps.reserve(projectId, otherDWallet);
  await steps.submit(projectId, queued);
  await steps.submit(projectId, submitted);
  await steps.land(submitted);
  return { projectId, dwallet, otherDWallet, prepared, otherPrepared, queued, submitted };
}
