/** Reservations of a leaving dWallet that two replicas end at once, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { createExitLoop } from "../../src/service/signing/loops/exit-loop.ts";
import { readSignRequest } from "../../src/service/signing/sign-request.ts";
import { signSteps } from "../support/crypto/sign-steps.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { dwalletOf, objectId, projectWith, readyPresigns } from "../support/database/rows.ts";
import { createPauseClock } from "../support/pause-clock.ts";
import { silentLog } from "../support/silent-log.ts";

const database = await openRaceDatabase();
afterAll(() => database?.close());

describe.skipIf(database === undefined)("the loop of exits", () => {
  const db = database!;

  it("does not wait for a reservation that another transaction holds", async () => {
    const projectId = await projectWith(db, 1_000n);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, 1);
    const id = await signSteps(db, createLocalSignals()).reserve(projectId, dwallet);
    await db.query(
      `INSERT INTO treasury_consent (id, project_id, network, dwallet_id, action, chain, treasury_id, recipient, nonce,
                                     expires_epoch, public_key, signature, state)
       VALUES ($1, $2, 'localnet', $3, 'leave', '\\x00', $4, $5, 0, 10, '\\x00', '\\x00', 'settling')`,
      [newId(), projectId, dwallet.rowId, objectId(), objectId()],
    );
    const clock = createPauseClock();
    const signals = createLocalSignals();
    const loop = createExitLoop({ database: db, network: "localnet", signals, clock, log: silentLog });
    await db.transaction(async (other) => {
      await other.query("SELECT 1 FROM sign_request WHERE id = $1 FOR UPDATE", [id]);
      loop.start();
      await clock.paused();
      expect(await readSignRequest(other, { id })).toMatchObject({ status: "prepared" });
    });
    clock.elapse();
    await clock.paused();
    expect(await readSignRequest(db, { id })).toMatchObject({ status: "failed" });
    await loop.stop();
  });
});
