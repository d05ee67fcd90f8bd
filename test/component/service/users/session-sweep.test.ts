import { afterAll, beforeAll, expect, it } from "vitest";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createSessionSweep } from "../../../../src/service/users/session-sweep.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("a pass deletes the row of a removed provider after two days, and when no session of it exists", async () => {
  const [gone, used, recent] = [newId(), newId(), newId()];
  await database.query(
    `INSERT INTO removed_identity_provider (id, removed_at)
     VALUES ($1, now() - interval '3 days'), ($2, now() - interval '3 days'), ($3, now() - interval '1 day')`,
    [gone, used, recent],
  );
  await database.query(
    `INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, identity_provider_id, expires_at)
     VALUES ($1, $2, 'user-1', '\\x01', '{read}', '{}', $3, now() + interval '1 hour')`,
    [newId(), await projectWith(database, 0n), used],
  );
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const observed = {
    async query<Row>(statement: string, parameters?: readonly unknown[]) {
      const rows = await database.query<Row>(statement, parameters);
      finish();
      return rows;
    },
  };
  const sweep = createSessionSweep({ database: observed, clock: systemClock, log: silentLog });
  sweep.start();
  await finished;
  // Waits for the end of the pass.
  await sweep.stop();
  const rows = await database.query<{ id: string }>(
    "SELECT id FROM removed_identity_provider WHERE id = ANY($1::uuid[]) ORDER BY id",
    [[gone, used, recent]],
  );
  expect(rows.map(({ id }) => id)).toEqual([used, recent].sort());
});
