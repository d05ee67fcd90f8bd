/** Each change of a key changes that key alone, among keys of other projects, networks and operators. */
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { insertAdminKey, revokeAdminKey } from "../../../../src/service/access/keys/admin-keys.ts";
import { hashApiKey } from "../../../../src/service/access/keys/api-key.ts";
import {
  insertApiKey,
  readApiKey,
  revokeApiKey,
  rotateApiKey,
  setAllowedAddresses,
  setAllowedOrigins,
} from "../../../../src/service/access/keys/api-keys.ts";
import {
  noteKeyUse,
  readStoredKeys,
  STORED_API_KEYS,
} from "../../../../src/service/access/keys/stored-keys.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";

interface Key {
  readonly id: string;
  readonly plaintext: string;
}

const ABROAD = { ...TEST_OPERATOR, network: "testnet", networks: ["testnet"] } as const;
let database: Database;
let own: Key;
let forgotten: string[];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  forgotten = [];
  const projectId = await projectWith(database, 0n);
  for (const other of [
    projectId,
    await projectWith(database, 0n),
    await projectWith(database, 0n, "testnet"),
  ])
    await key(other);
  own = await key(projectId);
});

it("a key is revoked once, on its network", async () => {
  const revoke = (caller: typeof TEST_OPERATOR | typeof ABROAD) =>
    revokeApiKey({ db: database, lookup }, caller, own.id);
  expect(
    await changes(() => expect(revoke(ABROAD)).rejects.toThrow("no project of the network has a key")),
  ).toEqual({});
  expect(forgotten).toEqual([]);
  expect(await changes(() => revoke(TEST_OPERATOR))).toEqual({ api_key: { [own.id]: ["revoked_at"] } });
  expect(await changes(() => revoke(TEST_OPERATOR))).toEqual({});
  expect(forgotten).toEqual([own.id, own.id]);
});

it("a key gets its addresses on its network", async () => {
  const set = (caller: typeof TEST_OPERATOR | typeof ABROAD) =>
    setAllowedAddresses({ db: database, lookup }, caller, {
      apiKeyId: own.id,
      allowedAddresses: ["192.0.2.1"],
    });
  expect(
    await changes(() => expect(set(ABROAD)).rejects.toThrow("no project of the network has a key")),
  ).toEqual({});
  expect(await changes(() => set(TEST_OPERATOR))).toEqual({ api_key: { [own.id]: ["allowed_addresses"] } });
  const events = async () =>
    (await database.query("SELECT 1 FROM audit_event WHERE action = 'api_key.set_allowed_addresses'", []))
      .length;
  const before = await events();
  await set(TEST_OPERATOR);
  expect(await events()).toBe(before);
});

it("a key gets its origins on its network", async () => {
  const set = (caller: typeof TEST_OPERATOR | typeof ABROAD) =>
    setAllowedOrigins({ db: database, lookup }, caller, {
      apiKeyId: own.id,
      allowedOrigins: ["https://app.example"],
    });
  expect(
    await changes(() => expect(set(ABROAD)).rejects.toThrow("no project of the network has a key")),
  ).toEqual({});
  expect(await changes(() => set(TEST_OPERATOR))).toEqual({ api_key: { [own.id]: ["allowed_origins"] } });
});

it("a rotated key ends after the overlap, but never later than before, or at once", async () => {
  const rotate = (apiKeyId: string, overlapSeconds: number) =>
    rotateApiKey({ database, lookup }, TEST_OPERATOR, undefined, { apiKeyId, overlapSeconds });
  let next = "";
  const changed = await changes(async () => {
    next = (await rotate(own.id, 60)).details.id;
  });
  expect(changed).toEqual({ api_key: { [own.id]: ["expires_at"], [next]: ["new"] } });
  await expect(rotate(own.id, 60)).rejects.toThrow("the key is replaced");
  const soon = new Date(Date.now() + 600_000);
  await database.query("UPDATE api_key SET expires_at = $2 WHERE id = $1", [next, soon]);
  let last = "";
  expect(
    await changes(async () => {
      last = (await rotate(next, 3_600)).details.id;
    }),
  ).toEqual({ api_key: { [last]: ["new"] } });
  expect((await readApiKey(database, "localnet", last)).expiresAt).toEqual(soon);
  let final = "";
  expect(
    await changes(async () => {
      final = (await rotate(last, 0)).details.id;
    }),
  ).toEqual({ api_key: { [last]: ["revoked_at"], [final]: ["new"] } });
  await expect(rotate(last, 60)).rejects.toThrow("the key is revoked");
  await database.query("UPDATE api_key SET expires_at = now() WHERE id = $1", [final]);
  await expect(rotate(final, 60)).rejects.toThrow("the key is expired");
});

it("the use of a key is noted while it is valid, at most once a minute", async () => {
  const use = () => changes(() => noteKeyUse(database, "api_key", own.id));
  const noted = { api_key: { [own.id]: ["last_used_at"] } };
  const set = (columns: string) => database.query(`UPDATE api_key SET ${columns} WHERE id = $1`, [own.id]);
  expect(await use()).toEqual(noted);
  expect(await use()).toEqual({});
  await set("last_used_at = now() - interval '59 seconds'");
  expect(await use()).toEqual({});
  await set("last_used_at = now() - interval '61 seconds', expires_at = now() + interval '1 minute'");
  expect(await use()).toEqual(noted);
  await set("last_used_at = NULL, expires_at = now() - interval '1 second'");
  expect(await use()).toEqual({});
  await set("expires_at = NULL, revoked_at = now()");
  expect(await use()).toEqual({});
});

it("a key is found by its own hash, with the time that it has left", async () => {
  const hash = Buffer.from(hashApiKey(own.plaintext)).toString("hex");
  const read = async () => (await readStoredKeys(database, STORED_API_KEYS, [hash])).get(hash);
  expect(await read()).toMatchObject({ id: own.id, isRevoked: false, isExpired: false, leftMs: null });
  expect((await readStoredKeys(database, STORED_API_KEYS, [hash, "00"])).size).toBe(1);
  await database.query("UPDATE api_key SET expires_at = now() + interval '1 hour' WHERE id = $1", [own.id]);
  const { leftMs, isExpired } = (await read())!;
  expect([leftMs! > 3_500_000 && leftMs! <= 3_600_000, isExpired]).toEqual([true, false]);
  await database.query(
    "UPDATE api_key SET expires_at = now() - interval '1 second', revoked_at = now() WHERE id = $1",
    [own.id],
  );
  expect(await read()).toMatchObject({ isRevoked: true, isExpired: true });
});

it("an operator's key is revoked once", async () => {
  const made: string[] = [];
  for (const name of ["first", "second"])
    made.push((await insertAdminKey(database, TEST_ORIGIN, { name })).id);
  const revoke = () => revokeAdminKey({ database, lookup }, TEST_OPERATOR, made[0]!);
  expect(await changes(revoke)).toEqual({ admin_key: { [made[0]!]: ["revoked_at"] } });
  expect(await changes(revoke)).toEqual({});
});

const changes = (action: () => Promise<unknown>) => changedRows(database, ["api_key", "admin_key"], action);
const lookup = { forget: (id: string) => forgotten.push(id) } as never;

async function key(projectId: string): Promise<Key> {
  const made = await insertApiKey(database, TEST_ORIGIN, {
    projectId,
    name: "test",
    scopes: ["sign"],
  });
  return made;
}
