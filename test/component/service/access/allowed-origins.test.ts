/** The web origins whose pages may send a project's key: how an operator changes them, and how soon a page is refused. */
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ApiKey_Scope as Scope } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { readKeyOrigins } from "../../../../src/service/access/web-origins.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { type AdminReplica, adminReplica, trailOf } from "../../../support/service/admin-client.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const [APP, ADMIN] = ["https://app.example", "https://admin.example"];
let database: Database;
let projectId: string;
let replica: AdminReplica;
let other: AdminReplica;
let nowMs = Date.now();

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 0n);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  [replica, other] = [adminReplica(database, () => nowMs), adminReplica(database, () => nowMs)];
});

async function made(allowedOrigins: string[] = []) {
  const key = { projectId, name: "web", scopes: [Scope.sign], allowedOrigins };
  const { apiKey, plaintext } = await replica.admin.createApiKey(key);
  return { apiKeyId: apiKey!.apiKeyId, plaintext };
}

/** Calls with the key from a page. */
async function call(key: string, origin: string, at = replica): Promise<string> {
  const gate = createAccessGate({
    lookup: at.lookup,
    adminLookup: at.adminLookup,
    adminApiKey: undefined,
    networks: ["localnet"],
    limiter: { take: () => undefined, takeOfSessions: () => undefined },
    beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
    now: () => nowMs,
  });
  const requestHeader = new Headers({ authorization: `Bearer ${key}`, origin });
  const responseHeader = new Headers();
  const values = createContextValues();
  try {
    await gate({ method: Signing.method.reserveSign, requestHeader, responseHeader, values });
    return `readable for ${responseHeader.get("access-control-allow-origin")}`;
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe("a page", () => {
  it("is refused after its origin is removed: at once in this process, within seconds in others", async () => {
    const { apiKeyId, plaintext } = await made([APP, ADMIN]);
    for (const at of [replica, other]) expect(await call(plaintext, APP, at)).toBe(`readable for ${APP}`);
    const set = await replica.admin.setAllowedOrigins({ apiKeyId, allowedOrigins: [ADMIN] });
    expect(set.apiKey?.allowedOrigins).toEqual([ADMIN]);
    expect(await call(plaintext, APP)).toBe("ORIGIN_NOT_ALLOWED");
    expect(await call(plaintext, ADMIN)).toBe(`readable for ${ADMIN}`);
    nowMs += 5_000;
    expect(await call(plaintext, APP, other)).toBe("ORIGIN_NOT_ALLOWED");
    await replica.admin.setAllowedOrigins({ apiKeyId: apiKeyId.toUpperCase(), allowedOrigins: [] });
    expect(await call(plaintext, ADMIN)).toBe("KEY_IN_BROWSER");
  });

  it("may send a key after its origin, or every one, is added", async () => {
    const { apiKeyId, plaintext } = await made();
    expect(await call(plaintext, APP)).toBe("KEY_IN_BROWSER");
    await replica.admin.setAllowedOrigins({ apiKeyId, allowedOrigins: [APP] });
    expect(await call(plaintext, APP)).toBe(`readable for ${APP}`);
    await replica.admin.setAllowedOrigins({ apiKeyId, allowedOrigins: ["*"] });
    expect(await call(plaintext, ADMIN)).toBe(`readable for ${ADMIN}`);
  });
});

describe("the origins of a key", () => {
  it("are in the audit trail when they change, and only then", async () => {
    const { apiKeyId } = await made();
    for (const allowedOrigins of [[APP], [APP], []])
      await replica.admin.setAllowedOrigins({ apiKeyId, allowedOrigins });
    expect(await trailOf(database, apiKeyId)).toEqual([
      "api_key.create by admin",
      "api_key.set_allowed_origins by admin",
      "api_key.set_allowed_origins by admin",
    ]);
  });

  it.each([
    ["app.example"],
    [`${APP}/`],
    [`${APP}/page`],
    ["http://app.example"],
    ["https://*.example"],
    [""],
  ])("are refused with %j, and stay", async (origin) => {
    expect(await refusalOf(made([APP, origin]))).toBe("VALIDATION");
    const { apiKeyId } = await made([ADMIN]);
    const set = replica.admin.setAllowedOrigins({ apiKeyId, allowedOrigins: [APP, origin] });
    expect(await refusalOf(set)).toBe("VALIDATION");
    const { apiKeys } = await replica.admin.listApiKeys({ projectId });
    expect(apiKeys.find((key) => key.apiKeyId === apiKeyId)?.allowedOrigins).toEqual([ADMIN]);
  });

  it("are named by the error with their place, where * is one too", () => {
    expect(readKeyOrigins(["*", APP])).toEqual(["*", APP]);
    expect(() => readKeyOrigins(["*", APP, "x"])).toThrow(/^allowed_origins\[2\]: must be an origin/);
  });

  it("of a key that does not exist are not found", async () => {
    expect(await refusalOf(replica.admin.setAllowedOrigins({ apiKeyId: newId() }))).toBe("API_KEY_NOT_FOUND");
  });
});
