/** Which expired reservations count against their projects, by when the loop of expiries has run. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { topics } from "../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createExpireLoop } from "../../../../src/service/signing/loops/expire-loop.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, projectWith, readyPresigns } from "../../../support/database/rows.ts";
import { createManualClock } from "../../../support/manual-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("those made since the service is up count, until it pauses for more than ten seconds", async () => {
  const signals = createLocalSignals();
  const steps = signSteps(database, signals);
  const clock = createManualClock();
  const failed: string[] = [];
  let isFailing = false;
  let passed: () => void = () => {};
  const loop = createExpireLoop({
    signals,
    clock,
    log: silentLog,
    database: {
      async query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]> {
        if (isFailing) throw new Error("the database is away");
        return database.query<Row>(statement, parameters);
      },
    },
    observerOf: (network) =>
      ({
        failed: (reason: string) => void failed.push(`${network} ${reason}`),
        completed() {},
        submitted() {},
      }) as never,
  });
  /** Waits until the pass that `begin` starts is over: the loop then sets its timer. */
  const pass = (begin: () => unknown) =>
    new Promise<void>((resolve) => {
      passed = resolve;
      begin();
    });
  const after = clock.after.bind(clock);
  clock.after = (durationMs, call) => {
    queueMicrotask(() => passed());
    return after(durationMs, call);
  };

  /** Expires a reservation that was made now or earlier. Returns whether it counts against its project. */
  const counts = async (elapsedMs: number, made: "now" | "an hour ago"): Promise<boolean> => {
    const projectId = await projectWith(database, 100n);
    const dwallet = await dwalletOf(database, projectId);
    await readyPresigns(database, dwallet.bucket, 1);
    const id = await steps.reserve(projectId, dwallet);
    await database.query(
      "UPDATE sign_request SET expires_at = now(), created_at = created_at - $2::interval WHERE id = $1",
      [id, made === "now" ? "0" : "1 hour"],
    );
    let noticed = 0;
    signals.subscribe(topics.sign(id), () => noticed++);
    await pass(() => (elapsedMs === 0 ? loop.start() : clock.advance(elapsedMs)));
    expect(noticed).toBe(1);
    const [row] = await database.query<{ count: number }>(
      "SELECT lapsed_reservations AS count FROM project WHERE id = $1",
      [projectId],
    );
    return row!.count === 1;
  };

  expect(await counts(0, "an hour ago")).toBe(false);
  expect(await counts(1_000, "now")).toBe(true);
  expect(await counts(1_000, "an hour ago")).toBe(false);
  expect(await counts(10_000, "now")).toBe(true);
  expect(await counts(10_001, "now")).toBe(false);
  expect(await counts(1_000, "now")).toBe(true);
  isFailing = true;
  await pass(() => clock.advance(1_000));
  isFailing = false;
  expect(await counts(1_000, "now")).toBe(false);
  expect(failed).toEqual(Array.from({ length: 7 }, () => "localnet RESERVATION_EXPIRED"));
  await loop.stop();
});
