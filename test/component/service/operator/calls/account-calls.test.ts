import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Client } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Admin, ApiKey_Scope as Scope } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { LedgerEntry_Kind as Kind } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { type ApiKeyLookup, createApiKeyLookup } from "../../../../../src/service/access/keys/stored-keys.ts";
import { insertProject } from "../../../../../src/service/access/projects.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import {
  dwalletOf,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
} from "../../../../support/database/rows.ts";
import { wholeAdminService } from "../../../../support/service/admin-service.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const UNKNOWN = newId();
let database: Database;
let lookup: ApiKeyLookup;
let admin: Client<typeof Admin>;
let projectId: string;
let requestId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  lookup = createApiKeyLookup({ database, log: silentLog });
  const service = wholeAdminService({
    accounts: { database, lookup },
    adminKeys: {} as never,
    chain: {} as never,
    presigns: {} as never,
  });
  admin = clientOf(Admin, service, () => ({
    kind: "admin",
    network: "localnet",
    networks: ["localnet"],
    origin: { actor: "admin", requestId, address: "192.0.2.1" },
  }));
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  requestId = newId();
  projectId = await projectWith(database, 100n);
});

const under = (key: string) => ({ headers: { "idempotency-key": key } });
const foreignProject = () => insertProject(database, TEST_ORIGIN, { name: "far", network: "testnet" });

/** The audit events of this test's calls. */
async function trail() {
  const { auditEvents } = await admin.listAuditEvents({ actor: "admin", pageSize: 200 });
  return auditEvents.filter((event) => event.requestId === requestId);
}

/** All rows of a list, page by page. */
async function walk<Row>(
  read: (pageToken: string) => Promise<{ rows: readonly Row[]; nextPageToken: string }>,
): Promise<Row[]> {
  const all: Row[] = [];
  let pageToken = "";
  do {
    const { rows, nextPageToken } = await read(pageToken);
    all.push(...rows);
    pageToken = nextPageToken;
  } while (pageToken !== "");
  return all;
}

describe("a project", () => {
  it("is created on the network of the call, without credit, and audited", async () => {
    const { project } = await admin.createProject({ name: "Zoë's shop" });
    expect(project).toMatchObject({
      name: "Zoë's shop",
      network: "localnet",
      balanceMicroUsd: 0n,
      heldMicroUsd: 0n,
    });
    expect(await trail()).toMatchObject([
      {
        action: "project.create",
        subject: project?.projectId,
        projectId: project?.projectId,
        actor: "admin",
        address: "192.0.2.1",
      },
    ]);
  });

  it("is created once for each idempotency key, even by calls at once", async () => {
    const key = newId();
    const replies = await Promise.all([1, 2, 3].map(() => admin.createProject({ name: "once" }, under(key))));
    expect(new Set(replies.map(({ project }) => project?.projectId)).size).toBe(1);
    expect(await trail()).toHaveLength(1);
    expect(await refusalOf(admin.createProject({ name: "other" }, under(key)))).toBe(
      "IDEMPOTENCY_KEY_REUSED",
    );
    const other = await admin.createProject({ name: "once" }, under(newId()));
    expect(other.project?.projectId).not.toBe(replies[0]?.project?.projectId);
  });

  it.each(["", " ", " shop", "a\u0000b", "a\nb", "x".repeat(101)])(
    "is refused with the name %j",
    async (name) => {
      expect(await refusalOf(admin.createProject({ name }))).toBe("VALIDATION");
    },
  );

  it("is listed in pages, the newest first, without those of other networks", async () => {
    const far = await foreignProject();
    const newest = await projectWith(database, 7n);
    const all = await walk(async (pageToken) => {
      const { projects, nextPageToken } = await admin.listProjects({ pageSize: 2, pageToken });
      return { rows: projects, nextPageToken };
    });
    const ids = all.map((project) => project.projectId);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
    expect(all[0]).toMatchObject({ projectId: newest, balanceMicroUsd: 7n });
    expect(ids[1]).toBe(projectId);
    expect(ids).not.toContain(far);
  });

  it("is shown with its balance, unless it is on another network or does not exist", async () => {
    const known = await projectWith(database, 7n);
    const { project } = await admin.getProject({ projectId: known });
    expect(project).toMatchObject({ projectId: known, balanceMicroUsd: 7n, heldMicroUsd: 0n });
    for (const other of [await foreignProject(), newId()])
      expect(await refusalOf(admin.getProject({ projectId: other }))).toBe("PROJECT_NOT_FOUND");
    expect(await refusalOf(admin.getProject({ projectId: "no-id" }))).toBe("VALIDATION");
  });
});

describe("a key", () => {
  const made = (more: object = {}, options = {}) =>
    admin.createApiKey({ projectId, name: "web", scopes: [Scope.sign, Scope.read], ...more }, options);

  it("works at once, with its scopes and its expiry, and is audited", async () => {
    const expireTime = timestampFromDate(new Date(Date.now() + 3_600_000));
    const { apiKey, plaintext } = await made({ expireTime });
    expect(apiKey).toMatchObject({
      projectId,
      name: "web",
      prefix: plaintext.slice(0, "tss_local_".length + 4),
      scopes: [Scope.sign, Scope.read],
      expireTime,
    });
    expect(apiKey?.revokeTime).toBeUndefined();
    expect(await lookup.find(plaintext)).toMatchObject({
      id: apiKey?.apiKeyId,
      projectId,
      scopes: ["sign", "read"],
      expiresAt: timestampDate(expireTime),
    });
    expect(await trail()).toMatchObject([{ action: "api_key.create", subject: apiKey?.apiKeyId, projectId }]);
  });

  it("is created once for each idempotency key, and its plaintext is shown once and stored nowhere", async () => {
    const key = newId();
    const first = await made({}, under(key));
    const again = await made({}, under(key));
    expect(first.plaintext).toMatch(/^tss_local_/);
    expect(again).toEqual({ ...first, plaintext: "" });
    expect(await trail()).toHaveLength(1);
    const [kept] = await database.query<{ subjectId: string; reply: Uint8Array | null }>(
      `SELECT subject_id AS "subjectId", reply FROM idempotency_key WHERE key = $1`,
      [key],
    );
    expect(kept).toEqual({ subjectId: first.apiKey?.apiKeyId, reply: null });
  });

  it("is refused for a project that the network does not have, and leaves no event", async () => {
    const key = newId();
    expect(await refusalOf(made({ projectId: UNKNOWN }, under(key)))).toBe("PROJECT_NOT_FOUND");
    expect(await refusalOf(made({ projectId: await foreignProject() }))).toBe("PROJECT_NOT_FOUND");
    expect(await trail()).toEqual([]);
    // A failed call is not stored under its key.
    expect((await made({}, under(key))).plaintext).not.toBe("");
  });

  it.each([
    ["no scope", { scopes: [] }],
    ["an unknown scope", { scopes: [9] }],
    ["the scope 0", { scopes: [0] }],
    ["a scope twice", { scopes: [Scope.sign, Scope.sign] }],
    ["an end in the past", { expireTime: timestampFromDate(new Date(0)) }],
    ["a project that is no id", { projectId: "x" }],
  ])("with %s is refused", async (_what, change) => {
    expect(await refusalOf(made(change))).toBe("VALIDATION");
  });

  it("is refused once it is revoked, and revoking it again changes nothing and is not audited", async () => {
    const { apiKey, plaintext } = await made();
    await lookup.find(plaintext);
    const apiKeyId = apiKey!.apiKeyId;
    // Upper case identifies the same key.
    const revoked = await admin.revokeApiKey({ apiKeyId: apiKeyId.toUpperCase() });
    expect(revoked.apiKey?.revokeTime).toBeDefined();
    expect((await lookup.find(plaintext))?.isRevoked).toBe(true);
    expect((await admin.revokeApiKey({ apiKeyId })).apiKey?.revokeTime).toEqual(revoked.apiKey?.revokeTime);
    expect((await trail()).map(({ action, subject }) => ({ action, subject }))).toEqual([
      { action: "api_key.revoke", subject: apiKeyId },
      { action: "api_key.create", subject: apiKeyId },
    ]);
  });

  it("that does not exist, or is of another network, is not found and not revoked", async () => {
    const { apiKey, plaintext } = await made();
    expect(await refusalOf(admin.revokeApiKey({ apiKeyId: projectId }))).toBe("API_KEY_NOT_FOUND");
    await database.query("UPDATE project SET network = 'testnet' WHERE id = $1", [projectId]);
    expect(await refusalOf(admin.revokeApiKey({ apiKeyId: apiKey!.apiKeyId }))).toBe("API_KEY_NOT_FOUND");
    expect((await lookup.find(plaintext))?.isRevoked).toBe(false);
  });

  it("is listed with the project's other keys in pages, the newest first", async () => {
    const ids: string[] = [];
    for (const name of ["one", "two", "three"]) ids.unshift((await made({ name })).apiKey!.apiKeyId);
    await admin.revokeApiKey({ apiKeyId: ids[1]! });
    const other = await projectWith(database, 0n);
    await made({ projectId: other });
    const keys = await walk(async (pageToken) => {
      const page = await admin.listApiKeys({ projectId, pageSize: 2, pageToken });
      return { rows: page.apiKeys, nextPageToken: page.nextPageToken };
    });
    expect(keys.map((key) => key.apiKeyId)).toEqual(ids);
    expect(keys.map((key) => key.revokeTime !== undefined)).toEqual([false, true, false]);
    const { nextPageToken: pageToken } = await admin.listApiKeys({ projectId, pageSize: 1 });
    expect(await refusalOf(admin.listApiKeys({ projectId: other, pageToken }))).toBe("VALIDATION");
    expect(await refusalOf(admin.listApiKeys({ projectId: UNKNOWN }))).toBe("PROJECT_NOT_FOUND");
  });
});

describe("credit", () => {
  const adjust = (amountMicroUsd: bigint, options = {}, more: object = {}) =>
    admin.adjustCredit({ projectId, amountMicroUsd, reason: "goodwill", ...more }, options);

  it("is added and deducted, each with one ledger entry and one event", async () => {
    const given = await adjust(50n);
    expect(given.ledgerEntry).toMatchObject({
      kind: Kind.credit,
      amountMicroUsd: 50n,
      balanceMicroUsd: 150n,
      description: "goodwill",
    });
    const taken = await adjust(-150n);
    expect(taken.ledgerEntry).toMatchObject({ amountMicroUsd: -150n, balanceMicroUsd: 0n });
    expect(await moneyOf(database, projectId)).toEqual({ balance: 0n, held: 0n, differences: [] });
    const entries = await database.query<{ key: string; description: string }>(
      "SELECT key, description FROM ledger_entry WHERE project_id = $1 ORDER BY id DESC LIMIT 2",
      [projectId],
    );
    expect(entries).toEqual(
      [taken, given].map(({ ledgerEntry }) => ({ key: ledgerEntry?.ledgerEntryId, description: "goodwill" })),
    );
    expect((await trail()).map(({ action }) => action)).toEqual(["project.credit", "project.credit"]);
  });

  it("is booked once for each idempotency key, and a repeat gets the first reply", async () => {
    const key = newId();
    const replies = await Promise.all([1, 2, 3].map(() => adjust(50n, under(key))));
    await adjust(1n);
    expect(await adjust(50n, under(key))).toEqual(replies[0]);
    expect(new Set(replies.map(({ ledgerEntry }) => ledgerEntry?.ledgerEntryId)).size).toBe(1);
    expect(await moneyOf(database, projectId)).toEqual({ balance: 151n, held: 0n, differences: [] });
    expect(await refusalOf(adjust(51n, under(key)))).toBe("IDEMPOTENCY_KEY_REUSED");
  });

  it("never falls below the amount that open reservations hold", async () => {
    const dwallet = await dwalletOf(database, projectId);
    await readyPresigns(database, dwallet.bucket, 1);
    await signSteps(database, createLocalSignals()).reserve(projectId, dwallet);
    const key = newId();
    expect(await refusalOf(adjust(-91n, under(key)))).toBe("INSUFFICIENT_CREDIT");
    expect(await moneyOf(database, projectId)).toEqual({ balance: 100n, held: 10n, differences: [] });
    expect(await trail()).toEqual([]);
    await adjust(-90n);
    expect(await moneyOf(database, projectId)).toEqual({ balance: 10n, held: 10n, differences: [] });
    // The refusal was not stored under the key.
    await adjust(91n);
    await adjust(-91n, under(key));
    expect(await moneyOf(database, projectId)).toEqual({ balance: 10n, held: 10n, differences: [] });
  });

  it("is refused for a project that the network does not have", async () => {
    expect(await refusalOf(adjust(1n, {}, { projectId: UNKNOWN }))).toBe("PROJECT_NOT_FOUND");
    expect(await refusalOf(adjust(1n, {}, { projectId: await foreignProject() }))).toBe("PROJECT_NOT_FOUND");
  });

  it.each([
    ["nothing", 0n, {}],
    ["more than ten million dollars", 10_000_000_000_001n, {}],
    ["less than minus ten million dollars", -10_000_000_000_001n, {}],
    ["an amount without a reason", 1n, { reason: "" }],
  ])("is not adjusted by %s", async (_what, amount, more) => {
    expect(await refusalOf(adjust(amount, {}, more))).toBe("VALIDATION");
  });
});

describe("the audit trail", () => {
  it("is listed in pages, the newest event first, by project and by actor", async () => {
    const { apiKey } = await admin.createApiKey({ projectId, name: "web", scopes: [Scope.read] });
    await admin.adjustCredit({ projectId, amountMicroUsd: 1n, reason: "test" });
    await admin.revokeApiKey({ apiKeyId: apiKey!.apiKeyId });
    const listed = (filter: object) =>
      walk(async (pageToken) => {
        const page = await admin.listAuditEvents({ ...filter, pageSize: 2, pageToken });
        return { rows: page.auditEvents, nextPageToken: page.nextPageToken };
      });
    const ofAdmin = ["api_key.revoke", "project.credit", "api_key.create"];
    const ofProject = await listed({ projectId });
    expect(ofProject.map(({ action }) => action)).toEqual([...ofAdmin, "project.credit", "project.create"]);
    expect((await listed({ projectId, actor: "admin" })).map(({ action }) => action)).toEqual(ofAdmin);
    expect(await listed({ actor: "nobody" })).toEqual([]);
    const all = await listed({});
    expect(all.slice(0, ofProject.length)).toEqual(ofProject);
    const { nextPageToken: pageToken } = await admin.listAuditEvents({ projectId, pageSize: 1 });
    expect(await refusalOf(admin.listAuditEvents({ pageToken }))).toBe("VALIDATION");
    expect(await refusalOf(admin.listAuditEvents({ projectId: UNKNOWN }))).toBe("PROJECT_NOT_FOUND");
  });

  it("is listed by action, with and without a project, and by time", async () => {
    const other = await projectWith(database, 0n);
    const actions = ["sign.submit", "user.create", "dwallet.remove-holder", "sign.submit", "user.create"];
    // Later than the events of the other tests, which have smaller ids.
    const beginMs = Date.now() + 3_600_000;
    const at = (minute: number) => new Date(beginMs + minute * 60_000);
    // The last event belongs to a transaction that began before the one in front of it.
    const minutes = [0, 60, 120, 180, 175];
    for (const [index, action] of actions.entries())
      for (const id of [projectId, other])
        await database.query(
          "INSERT INTO audit_event (actor, project_id, action, subject, created_at) VALUES ('early', $1, $2, $3, $4)",
          [id, action, String(index), at(minutes[index]!)],
        );
    const listed = (filter: object) =>
      walk(async (pageToken) => {
        const page = await admin.listAuditEvents({ actor: "early", ...filter, pageSize: 1, pageToken });
        return { rows: page.auditEvents, nextPageToken: page.nextPageToken };
      });
    const subjectsOf = async (filter: object) => (await listed(filter)).map(({ subject }) => Number(subject));
    const from = (minute: number) => ({ startTime: timestampFromDate(at(minute)) });
    const to = (minute: number) => ({ endTime: timestampFromDate(at(minute)) });
    expect(await subjectsOf({ projectId })).toEqual([4, 3, 2, 1, 0]);
    expect(await subjectsOf({ projectId, action: "user.create" })).toEqual([4, 1]);
    expect(await subjectsOf({ projectId, action: "sign.submit" })).toEqual([3, 0]);
    expect(await subjectsOf({ action: "user.create" })).toEqual([4, 4, 1, 1]);
    expect(await subjectsOf({ action: "sign.submit" })).toEqual([3, 3, 0, 0]);
    expect(await subjectsOf({ action: "dwallet.remove-holder" })).toEqual([2, 2]);
    expect(await subjectsOf({ actor: "nobody", action: "user.create" })).toEqual([]);
    expect(await subjectsOf({ projectId, ...from(60) })).toEqual([4, 3, 2, 1]);
    expect(await subjectsOf({ projectId, ...from(61), ...to(180) })).toEqual([4, 2]);
    expect(await subjectsOf({ projectId, ...to(60) })).toEqual([0]);
    expect(await subjectsOf({ projectId, action: "user.create", ...from(100) })).toEqual([4]);
    expect(await subjectsOf({ ...from(176), ...to(181) })).toEqual([3, 3]);
    expect(await subjectsOf({ ...from(181) })).toEqual([]);
    expect(await refusalOf(listed({ ...from(5), ...to(5) }))).toBe("VALIDATION");
    expect(await refusalOf(listed({ action: "user" }))).toBe("VALIDATION");
    const { nextPageToken } = await admin.listAuditEvents({ projectId, pageSize: 1, ...from(60) });
    const wrong = admin.listAuditEvents({ projectId, pageToken: nextPageToken, ...from(59) });
    expect(await refusalOf(wrong)).toBe("VALIDATION");
  });

  it("shows nothing of another network's projects", async () => {
    const far = await foreignProject();
    const { auditEvents } = await admin.listAuditEvents({ pageSize: 200 });
    expect(auditEvents.map(({ subject }) => subject)).not.toContain(far);
    expect(await refusalOf(admin.listAuditEvents({ projectId: far }))).toBe("PROJECT_NOT_FOUND");
  });
});
