/** Sessions of one user that begin at the same time, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import {
  createSessionDeps,
  insertSession,
  SESSIONS_OF_USER_MAX_COUNT,
} from "../../src/service/users/sessions.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { projectWith, TEST_ORIGIN } from "../support/database/rows.ts";

// Eight creations at once, so that they compete for the user.
const database = await openRaceDatabase({ count: 8, because: "eight sessions of a user begin at once" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a user who begins 80 sessions at once", () => {
  it("keeps 32 of them, and no other user loses one", async () => {
    const projectId = await projectWith(database!, 0n);
    const deps = createSessionDeps({
      database: database!,
      lookup: { forget() {} },
      usersMaxCountOf: () => 1_000,
    });
    const begin = (userReference: string) =>
      database!.transaction((db) =>
        insertSession(deps, db, TEST_ORIGIN, {
          projectId,
          network: "localnet",
          userReference,
          scopes: ["read"],
        }),
      );
    const others = Array.from({ length: 8 }, (_, index) => begin(`other-${index}`));
    const made = await Promise.all([...Array.from({ length: 80 }, () => begin("alice")), ...others]);
    const counts = await database!.query<{ user: string; count: bigint }>(
      `SELECT left(user_reference, 5) AS user, count(*) FROM session WHERE revoked_at IS NULL GROUP BY 1 ORDER BY 1`,
    );
    expect(counts).toEqual([
      { user: "alice", count: BigInt(SESSIONS_OF_USER_MAX_COUNT) },
      { user: "other", count: 8n },
    ]);
    const ended = made.flatMap(({ endedIds }) => endedIds);
    expect(new Set(ended).size).toBe(80 - SESSIONS_OF_USER_MAX_COUNT);
  });
});
