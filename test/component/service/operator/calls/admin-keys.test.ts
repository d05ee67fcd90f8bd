/** Named admin keys: created, listed and revoked by the operator. */
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { type AdminReplica, adminReplica, trailOf } from "../../../../support/service/admin-client.ts";
import { refusalOf } from "../../../../support/service/service-client.ts";

let database: Database;
let replica: AdminReplica;

beforeAll(async () => {
  database = await openTestDatabase();
  replica = adminReplica(database);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const made = (name: string, more: object = {}, options = {}) =>
  replica.admin.createAdminKey({ name, ...more }, options);

describe("a named admin key", () => {
  it("is shown once, and only its hash is kept", async () => {
    const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
    const options = { headers: { "idempotency-key": newId() } };
    const first = await made("alice", { expireTime }, options);
    expect(first.plaintext).toMatch(/^tss_admin_[0-9A-Za-z]{32}$/);
    expect(first.adminKey).toMatchObject({
      name: "alice",
      prefix: first.plaintext.slice(0, "tss_admin_".length + 4),
      expireTime,
    });
    expect(await made("alice", { expireTime }, options)).toEqual({ ...first, plaintext: "" });
    const [dump] = await database.query<{ rows: string }>(
      `SELECT (SELECT string_agg(k::text, '') FROM admin_key k) || (SELECT string_agg(i::text, '') FROM idempotency_key i)
         AS rows`,
    );
    const secret = first.plaintext.slice(first.adminKey!.prefix.length);
    expect(dump?.rows).not.toContain(secret);
    expect(dump?.rows).not.toContain(Buffer.from(secret).toString("hex"));
    expect(await trailOf(database, first.adminKey!.adminKeyId)).toEqual(["admin_key.create by admin"]);
  });

  it("has a name that no other key ever gets, so an actor is always the same key", async () => {
    const { adminKey } = await made("bob");
    expect(await refusalOf(made("bob"))).toBe("ADMIN_KEY_NAME_TAKEN");
    await replica.admin.revokeAdminKey({ adminKeyId: adminKey!.adminKeyId });
    expect(await refusalOf(made("bob"))).toBe("ADMIN_KEY_NAME_TAKEN");
  });

  it.each([[""], ["Alice"], ["al ice"], ["-alice"], ["alice:x"], ["älice"], ["a".repeat(64)]])(
    "with the name %j is refused",
    async (name) => {
      expect(await refusalOf(made(name))).toBe("VALIDATION");
      await expect(
        database.query(
          "INSERT INTO admin_key (id, name, prefix, hash) VALUES (gen_random_uuid(), $1, '', '\\x00')",
          [name],
        ),
      ).rejects.toThrow(/admin_key_name/);
    },
  );

  it("is refused once it is revoked, and revoking it again changes nothing and is not audited", async () => {
    const { adminKey, plaintext } = await made("carol");
    const adminKeyId = adminKey!.adminKeyId;
    expect(await replica.adminLookup.find(plaintext)).toMatchObject({ name: "carol", isRevoked: false });
    const revoked = await replica.admin.revokeAdminKey({ adminKeyId: adminKeyId.toUpperCase() });
    expect((await replica.adminLookup.find(plaintext))?.isRevoked).toBe(true);
    expect(await replica.admin.revokeAdminKey({ adminKeyId })).toEqual(revoked);
    expect(await trailOf(database, adminKeyId)).toEqual([
      "admin_key.create by admin",
      "admin_key.revoke by admin",
    ]);
    expect(await refusalOf(replica.admin.revokeAdminKey({ adminKeyId: newId() }))).toBe(
      "ADMIN_KEY_NOT_FOUND",
    );
  });

  it("is listed with the others in pages, the newest first, with the time of its last use", async () => {
    const { plaintext } = await made("dora");
    await made("eve");
    await replica.adminLookup.find(plaintext);
    const first = await replica.admin.listAdminKeys({ pageSize: 2 });
    expect(first.adminKeys.map(({ name }) => name)).toEqual(["eve", "dora"]);
    expect(first.adminKeys.map(({ lastUseTime }) => lastUseTime !== undefined)).toEqual([false, true]);
    const rest = await replica.admin.listAdminKeys({ pageToken: first.nextPageToken });
    expect(rest.adminKeys.map(({ name }) => name)).toEqual(["carol", "bob", "alice"]);
    expect(rest.nextPageToken).toBe("");
    expect(await refusalOf(replica.admin.listProjects({ pageToken: first.nextPageToken }))).toBe(
      "VALIDATION",
    );
  });
});
