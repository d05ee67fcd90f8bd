import { afterAll, beforeAll, expect, it } from "vitest";
import { ensureDevelopmentKeys } from "../../../../../src/service/access/keys/development-keys.ts";
import { createApiKeyLookup } from "../../../../../src/service/access/keys/stored-keys.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { moneyOf } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("keeps the keys of an earlier start while their database exists, and makes new ones for an empty database", async () => {
  const old = { apiKey: "an earlier key", adminApiKey: "an earlier admin key" };
  const first = await ensureDevelopmentKeys(database, old, undefined);
  expect(first.areNew).toBe(true);
  expect(first.adminApiKey.reveal()).toBe(old.adminApiKey);
  const found = await createApiKeyLookup({ database, log: silentLog }).find(first.apiKey.reveal());
  expect(await moneyOf(database, found?.projectId ?? "")).toMatchObject({ balance: 50_000_000n, held: 0n });

  const known = { apiKey: first.apiKey.reveal(), adminApiKey: first.adminApiKey.reveal() };
  const second = await ensureDevelopmentKeys(database, known, new Secret("configured"));
  expect(second).toMatchObject({ areNew: false });
  expect(second.apiKey.reveal()).toBe(known.apiKey);
  expect(second.adminApiKey.reveal()).toBe("configured");
});
