/** A rotated key: what its successor inherits, and how long the old key stays valid. */
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ApiKey, ApiKey_Scope as Scope } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { projectWith } from "../../../../support/database/rows.ts";
import { type AdminReplica, adminReplica, trailOf } from "../../../../support/service/admin-client.ts";
import { refusalOf } from "../../../../support/service/service-client.ts";

const DAY_MS = 86_400_000;
let database: Database;
let projectId: string;
let replica: AdminReplica;
let other: AdminReplica;
let nowMs: number;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  nowMs = Date.now();
  projectId = await projectWith(database, 0n);
  [replica, other] = [adminReplica(database, () => nowMs), adminReplica(database, () => nowMs)];
});

const made = async (more: object = {}) => {
  const reply = await replica.admin.createApiKey({ projectId, name: "web", scopes: [Scope.sign], ...more });
  return { id: reply.apiKey!.apiKeyId, plaintext: reply.plaintext };
};
const rotate = (apiKeyId: string, more: object = {}, options = {}) =>
  replica.admin.rotateApiKey({ apiKeyId, ...more }, options);
const endOf = (key: ApiKey | undefined) => key?.expireTime && timestampDate(key.expireTime).getTime();

/** The moment from which a replica refuses the key. */
async function endAt({ lookup }: AdminReplica, plaintext: string) {
  const key = await lookup.find(plaintext);
  return key?.expiresAt?.getTime();
}

describe("a rotated key", () => {
  it("has a successor with the same project, name, scopes, addresses and expiry, and stays valid for a day", async () => {
    const expireTime = timestampFromDate(new Date(nowMs + 30 * DAY_MS));
    const old = await made({ allowedAddresses: ["192.0.2.0/24"], expireTime });
    const { apiKey, plaintext, replacedApiKey } = await rotate(old.id);
    expect(plaintext).toMatch(/^tss_local_[0-9A-Za-z]{32}$/);
    expect(plaintext).not.toBe(old.plaintext);
    expect(apiKey).toMatchObject({
      projectId,
      name: "web",
      scopes: [Scope.sign],
      allowedAddresses: ["192.0.2.0/24"],
      expireTime,
      rotatedFrom: old.id,
    });
    expect(replacedApiKey).toMatchObject({ apiKeyId: old.id, replacedBy: apiKey!.apiKeyId });
    const overlapMs = endOf(replacedApiKey)! - Date.now();
    expect(overlapMs).toBeGreaterThan(DAY_MS - 60_000);
    expect(overlapMs).toBeLessThanOrEqual(DAY_MS);
    expect(await replica.lookup.find(plaintext)).toMatchObject({ id: apiKey!.apiKeyId, scopes: ["sign"] });
    const { apiKeys } = await replica.admin.listApiKeys({ projectId });
    expect(apiKeys.map(({ rotatedFrom, replacedBy }) => ({ rotatedFrom, replacedBy }))).toEqual([
      { rotatedFrom: old.id, replacedBy: undefined },
      { rotatedFrom: undefined, replacedBy: apiKey!.apiKeyId },
    ]);
    expect(await trailOf(database, old.id)).toEqual(["api_key.create by admin", "api_key.rotate by admin"]);
    expect(await trailOf(database, apiKey!.apiKeyId)).toEqual(["api_key.create by admin"]);
  });

  it("keeps its own expiry if that is earlier, and its successor gets the requested one", async () => {
    const soon = new Date(nowMs + 3_600_000);
    const old = await made({ expireTime: timestampFromDate(soon) });
    const expireTime = timestampFromDate(new Date(nowMs + 90 * DAY_MS));
    const { apiKey, replacedApiKey } = await rotate(old.id, { expireTime });
    expect(endOf(replacedApiKey)).toBe(soon.getTime());
    expect(apiKey?.expireTime).toEqual(expireTime);
  });

  it("ends at its new expiry, at once in this process and within seconds in others", async () => {
    const old = await made();
    for (const at of [replica, other]) expect(await endAt(at, old.plaintext)).toBeUndefined();
    const { replacedApiKey } = await rotate(old.id, { overlapSeconds: 60 });
    expect(await endAt(replica, old.plaintext)).toBe(endOf(replacedApiKey));
    nowMs += 5_000;
    expect(await endAt(other, old.plaintext)).toBe(endOf(replacedApiKey));
  });

  it("is revoked at once if there is no overlap", async () => {
    const old = await made();
    await replica.lookup.find(old.plaintext);
    const { replacedApiKey } = await rotate(old.id.toUpperCase(), { overlapSeconds: 0 });
    expect(replacedApiKey?.revokeTime).toBeDefined();
    expect((await replica.lookup.find(old.plaintext))?.isRevoked).toBe(true);
  });

  it("has one successor for each idempotency key, whose plaintext is shown once and stored nowhere", async () => {
    const old = await made();
    const options = { headers: { "idempotency-key": newId() } };
    const first = await rotate(old.id, {}, options);
    const again = await rotate(old.id, {}, options);
    expect(again).toEqual({ ...first, plaintext: "" });
    expect((await replica.admin.listApiKeys({ projectId })).apiKeys).toHaveLength(2);
    expect(await refusalOf(rotate(old.id, { overlapSeconds: 1 }, options))).toBe("IDEMPOTENCY_KEY_REUSED");
    const [dump] = await database.query<{ rows: string }>(
      `SELECT (SELECT string_agg(k::text, '') FROM api_key k) || (SELECT string_agg(i::text, '') FROM idempotency_key i)
         AS rows`,
    );
    const secret = first.plaintext.slice(first.apiKey!.prefix.length);
    expect(dump?.rows).not.toContain(secret);
    expect(dump?.rows).not.toContain(Buffer.from(secret).toString("hex"));
  });

  it("is not rotated again, and neither is a revoked or expired key", async () => {
    const old = await made();
    const { apiKey } = await rotate(old.id);
    expect(await refusalOf(rotate(old.id))).toBe("WRONG_STATE");
    await rotate(apiKey!.apiKeyId);
    const revoked = await made();
    await replica.admin.revokeApiKey({ apiKeyId: revoked.id });
    expect(await refusalOf(rotate(revoked.id))).toBe("WRONG_STATE");
    const expired = await made();
    await database.query("UPDATE api_key SET expires_at = now() WHERE id = $1", [expired.id]);
    expect(await refusalOf(rotate(expired.id))).toBe("WRONG_STATE");
    expect((await replica.admin.listApiKeys({ projectId })).apiKeys).toHaveLength(5);
  });

  it("of another network is not found", async () => {
    const far = await made();
    await database.query("UPDATE project SET network = 'testnet' WHERE id = $1", [projectId]);
    expect(await refusalOf(rotate(far.id))).toBe("API_KEY_NOT_FOUND");
  });

  it.each([
    ["an overlap of less than nothing", { overlapSeconds: -1 }],
    ["an overlap of more than thirty days", { overlapSeconds: 30 * 86_400 + 1 }],
    ["an end in the past", { expireTime: timestampFromDate(new Date(0)) }],
  ])("is refused with %s", async (_what, more) => {
    expect(await refusalOf(rotate((await made()).id, more))).toBe("VALIDATION");
  });
});
