import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { SCOPES } from "../../../../src/service/access/caller.ts";
import { insertAdminKey } from "../../../../src/service/access/keys/admin-keys.ts";
import { insertApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import {
  type AdminKeyLookup,
  type ApiKeyLookup,
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../../src/service/access/keys/stored-keys.ts";
import { insertProject } from "../../../../src/service/access/projects.ts";
import { createRateLimiter, type RateLimits } from "../../../../src/service/access/rate-limiter.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const ADMIN_KEY = "an-admin-key-of-thirty-two-characters";
const { getSign, reserveSign } = Signing.method;
const { getNetwork } = Onboarding.method;
const { getPresignHealth } = Admin.method;
let database: Database;
let projectId: string;
let nowMs = Date.now();
let lookup: ApiKeyLookup;
let adminLookup: AdminKeyLookup;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 0n);
  lookup = createApiKeyLookup({ database, log: silentLog, now: () => nowMs });
  adminLookup = createAdminKeyLookup({ database, log: silentLog, now: () => nowMs });
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const newKey = (project = projectId) =>
  insertApiKey(database, TEST_ORIGIN, { projectId: project, name: "key", scopes: SCOPES });
const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe("the rate of calls", () => {
  const limits = (perSecond: Partial<RateLimits["perSecond"]>) => ({
    perSecond: { read: 0, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0, open: 0, ...perSecond },
    burstSeconds: 1_000,
  });
  /** A separate gate, whose networks may limit their keys' calls of the class `read`. */
  function gateOf(perSecond: Partial<RateLimits["perSecond"]>, reads: Readonly<Record<string, number>> = {}) {
    const clock = () => nowMs;
    const limiterOf = (rates: Partial<RateLimits["perSecond"]>) =>
      createRateLimiter({ limits: limits(rates), coordination: createLocalCoordination(clock) });
    const gate = createAccessGate({
      lookup,
      adminLookup,
      limiter: limiterOf(perSecond),
      networkLimiters: new Map(Object.entries(reads).map(([name, read]) => [name, limiterOf({ read })])),
      adminApiKey: new Secret(ADMIN_KEY),
      networks: ["localnet", ...Object.keys(reads).filter((name) => name !== "localnet")],
      beginTrace: ({ requestHeader }) => ({
        requestId: "r-1",
        address: requestHeader.get("x-address") ?? "192.0.2.1",
      }),
      now: clock,
    });
    return async (method: DescMethod, headers: Record<string, string>) => {
      const responseHeader = new Headers();
      const values = createContextValues();
      await gate({ method, requestHeader: new Headers(headers), responseHeader, values });
      return responseHeader;
    };
  }

  it("is sent with every reply, and limited by the method's class", async () => {
    const enter = gateOf({ read: 0.002, write: 0.001 });
    const key = bearer((await newKey()).plaintext);
    const first = await enter(getSign, key);
    expect(Object.fromEntries(first)).toEqual({
      "ratelimit-limit": "2",
      "ratelimit-remaining": "1",
      "ratelimit-reset": "500",
    });
    await enter(getSign, key);
    await expect(enter(getSign, key)).rejects.toMatchObject({
      reason: "RATE_LIMITED",
      retryAfterSeconds: 500,
      headers: { "ratelimit-limit": "2", "ratelimit-remaining": "0", "ratelimit-reset": "1000" },
    });
    expect((await enter(reserveSign, key)).get("ratelimit-remaining")).toBe("0");
    nowMs += 500_000;
    await enter(getSign, key);
  });

  it("is counted per key from any address, and per address without a key", async () => {
    const enter = gateOf({ read: 0.001 });
    const [one, other] = [bearer((await newKey()).plaintext), bearer((await newKey()).plaintext)];
    await enter(getSign, one);
    await enter(getSign, other);
    await expect(enter(getSign, { ...one, "x-address": "192.0.2.2" })).rejects.toThrow(/too many/);

    await enter(getNetwork, { "x-address": "2001:db8::1" });
    await enter(getNetwork, { "x-address": "2001:db8:0:1::1" });
    await expect(enter(getNetwork, { "x-address": "2001:db8::2" })).rejects.toThrow(/too many/);
    // An admin key counts as a separate key.
    await enter(getPresignHealth, bearer(ADMIN_KEY));
    await expect(enter(getPresignHealth, bearer(ADMIN_KEY))).rejects.toThrow(/too many/);
  });

  it("is limited as configured for the key's network, or for all networks without a project's key", async () => {
    const reads = { localnet: 0.003, testnet: 0.001 };
    const enter = gateOf({ read: 0.002 }, reads);
    const elsewhere = await insertProject(database, TEST_ORIGIN, { name: "limited", network: "testnet" });
    const limitOf = async (method: DescMethod, headers: Record<string, string>) =>
      (await enter(method, { ...headers, "x-address": "192.0.2.9" })).get("ratelimit-limit");
    expect(await limitOf(getSign, bearer((await newKey()).plaintext))).toBe("3");
    const other = bearer((await newKey(elsewhere)).plaintext);
    expect(await limitOf(getSign, other)).toBe("1");
    expect(await limitOf(getNetwork, { "x-network": "testnet" })).toBe("2");
    expect(await limitOf(getPresignHealth, { ...bearer(ADMIN_KEY), "x-network": "testnet" })).toBe("2");
    await expect(limitOf(getSign, other)).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    const unlimited = await gateOf({ read: 0.001 }, { localnet: 0 })(
      getSign,
      bearer((await newKey()).plaintext),
    );
    expect(unlimited.get("ratelimit-limit")).toBeNull();
  });

  it("with wrong keys is limited by address, and does not block right keys", async () => {
    const enter = gateOf({ refusedKey: 0.002 });
    const wrong = bearer(`tss_local_${"0".repeat(32)}`);
    const [inUse, fresh] = [bearer((await newKey()).plaintext), bearer((await newKey()).plaintext)];
    const adminFresh = bearer((await insertAdminKey(database, TEST_ORIGIN, { name: "eve" })).plaintext);
    await enter(getSign, inUse);
    await expect(enter(getSign, wrong)).rejects.toMatchObject({ reason: "INVALID_KEY" });
    await expect(enter(getSign, {})).rejects.toMatchObject({ reason: "MISSING_KEY" });
    const limited = { reason: "RATE_LIMITED", retryAfterSeconds: 500 };
    await expect(enter(getSign, wrong)).rejects.toMatchObject(limited);
    await expect(enter(getSign, {})).rejects.toMatchObject(limited);
    // Any right key is accepted from the same address, whether used before or not, cached or not.
    for (const right of [inUse, fresh]) await enter(getSign, right);
    for (const right of [adminFresh, bearer(ADMIN_KEY)]) await enter(getPresignHealth, right);
    nowMs += 6_000;
    for (const right of [inUse, fresh]) await enter(getSign, right);
    await expect(enter(getSign, wrong)).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await expect(enter(getSign, { ...wrong, "x-address": "192.0.2.2" })).rejects.toMatchObject({
      reason: "INVALID_KEY",
    });
  });
});
