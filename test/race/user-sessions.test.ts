/** Sessions of one user that begin at the same time, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { SCOPES } from "../../src/service/access/caller.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { revokeUserSessions } from "../../src/service/users/end-sessions.ts";
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

describe.skipIf(database === undefined)("an ID token from before its user's sessions are ended", () => {
  it("leaves no session behind, however an exchange and the end cross", async () => {
    const projectId = await projectWith(database!, 0n);
    const deps = createSessionDeps({
      database: database!,
      lookup: { forget() {} },
      usersMaxCountOf: () => 1_000,
    });
    const user = { projectId, network: "localnet", userReference: "alice", scopes: ["read"] } as const;
    const tokenIssuedAt = new Date(Date.now() - 60_000);
    const exchange = () =>
      database!
        .transaction((db) => insertSession(deps, db, TEST_ORIGIN, { ...user, tokenIssuedAt }))
        .then(
          () => "made",
          ({ metadata }) => metadata.fault,
        );
    const caller = {
      kind: "project",
      projectId,
      network: "localnet",
      scopes: SCOPES,
      apiKeyId: newId(),
    } as const;
    const end = () =>
      revokeUserSessions(deps, { ...caller, allowance: undefined, origin: TEST_ORIGIN }, "alice");
    expect(await exchange()).toBe("made");
    for (let round = 0; round < 20; round++) {
      await database!.query("UPDATE project_user SET sessions_ended_at = NULL WHERE project_id = $1", [
        projectId,
      ]);
      const [, ...outcomes] = await Promise.all([end(), ...Array.from({ length: 6 }, exchange)]);
      expect(["made", "revoked"]).toEqual(expect.arrayContaining([...new Set(outcomes)]));
      const left = "SELECT 1 FROM session WHERE project_id = $1 AND revoked_at IS NULL";
      expect(await database!.query(left, [projectId])).toEqual([]);
    }
  });
});
