/** A replica whose clock is wrong, or changes: keys expire only by the database's clock, on a real PostgreSQL. */
import { createContextValues } from "@connectrpc/connect";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../src/service/access/access-gate.ts";
import { insertAdminKey } from "../../src/service/access/keys/admin-keys.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import { createAdminKeyLookup, createApiKeyLookup } from "../../src/service/access/keys/stored-keys.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { projectWith, TEST_ORIGIN } from "../support/database/rows.ts";
import { silentLog } from "../support/silent-log.ts";

const HOUR_MS = 3_600_000;
const database = await openRaceDatabase();
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a replica whose clock is wrong", () => {
  let passedMs = 0;
  let knock: (plaintext: string, kind: "api_key" | "admin_key") => Promise<string>;

  beforeEach(() => {
    passedMs = 0;
    const options = { database: database!, log: silentLog, now: () => performance.now() + passedMs };
    const gate = createAccessGate({
      lookup: createApiKeyLookup(options),
      adminLookup: createAdminKeyLookup(options),
      limiter: { take: () => undefined, takeOfSessions: () => undefined },
      adminApiKey: undefined,
      networks: ["localnet"],
      beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
    });
    knock = async (plaintext, kind) => {
      const requestHeader = new Headers({ "x-api-key": plaintext });
      const method = kind === "api_key" ? Signing.method.getSign : Admin.method.getPresignHealth;
      try {
        await gate({ method, requestHeader, responseHeader: new Headers(), values: createContextValues() });
        return "let in";
      } catch (error) {
        return (error as { reason: string }).reason;
      }
    };
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const clockIsOff = (ms: number) => vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + ms });

  const keys = {
    api_key: async () => {
      const projectId = await projectWith(database!, 0n);
      return insertApiKey(database!, TEST_ORIGIN, { projectId, name: "k", scopes: ["read"] });
    },
    admin_key: () => insertAdminKey(database!, TEST_ORIGIN, { name: `k-${newId()}` }),
  };

  it.each(["api_key", "admin_key"] as const)("and runs an hour slow refuses an expired %s", async (kind) => {
    const { id, plaintext } = await keys[kind]();
    clockIsOff(-HOUR_MS);
    expect(await knock(plaintext, kind)).toBe("let in");
    await database!.query(`UPDATE ${kind} SET expires_at = now() - interval '1 second' WHERE id = $1`, [id]);
    passedMs += 5_001;
    expect(await knock(plaintext, kind)).toBe("EXPIRED_KEY");
  });

  it.each(["api_key", "admin_key"] as const)("and runs an hour fast accepts a valid %s", async (kind) => {
    const { id, plaintext } = await keys[kind]();
    await database!.query(`UPDATE ${kind} SET expires_at = now() + interval '1 minute' WHERE id = $1`, [id]);
    clockIsOff(HOUR_MS);
    expect(await knock(plaintext, kind)).toBe("let in");
  });

  it.each(["api_key", "admin_key"] as const)(
    "and is set back by an hour refuses a revoked %s",
    async (kind) => {
      const { id, plaintext } = await keys[kind]();
      expect(await knock(plaintext, kind)).toBe("let in");
      clockIsOff(-HOUR_MS);
      await database!.query(`UPDATE ${kind} SET revoked_at = now() WHERE id = $1`, [id]);
      passedMs += 5_001;
      expect(await knock(plaintext, kind)).toBe("REVOKED_KEY");
    },
  );
});
