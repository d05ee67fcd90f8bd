/** Every method of the contract, over REST and gRPC: which callers are refused and why, before the body is read. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { hasScope, SCOPES, type Scope } from "../../../../src/service/access/caller.ts";
import { insertAdminKey } from "../../../../src/service/access/keys/admin-keys.ts";
import { insertApiKey, revokeApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import {
  type AdminKeyLookup,
  type ApiKeyLookup,
  createAdminKeyLookup,
  createApiKeyLookup,
  type KnownApiKey,
} from "../../../../src/service/access/keys/stored-keys.ts";
import { methodPolicy } from "../../../../src/service/access/method-policy.ts";
import { createRateLimiter, type RateLimits } from "../../../../src/service/access/rate-limiter.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";
import { type ContractServer, METHODS, serveContract } from "./contract-calls.ts";

const ADMIN_KEY = "an-admin-key-of-thirty-two-characters";
const UNKNOWN_KEY = `tss_local_${"0".repeat(32)}`;
const each = (perSecond: number) => ({
  read: perSecond,
  write: perSecond,
  chain: perSecond,
  verify: perSecond,
  stream: perSecond,
  refusedKey: 0,
  open: 0,
});
/** Too few tokens for a test to see a refill. */
const ONE_CALL: RateLimits = { perSecond: each(0.001), burstSeconds: 1_000 };

let database: Database;
let lookup: ApiKeyLookup;
let adminLookup: AdminKeyLookup;
let open: ContractServer;
/** A server for which every key is confined to a user. */
let confined: ContractServer;
const keys = {
  good: "",
  elsewhere: "",
  named: "",
  revoked: "",
  expired: "",
  scoped: new Map<Scope, string>(),
};

beforeAll(async () => {
  database = await openTestDatabase();
  const projectId = await projectWith(database, 0n);
  const newKey = (scopes: readonly Scope[], expiresAt?: Date) =>
    insertApiKey(database, TEST_ORIGIN, { projectId, name: "key", scopes, expiresAt });
  lookup = createApiKeyLookup({ database, log: silentLog });
  adminLookup = createAdminKeyLookup({ database, log: silentLog });
  keys.named = (await insertAdminKey(database, TEST_ORIGIN, { name: "alice" })).plaintext;
  const elsewhere = { projectId, name: "key", scopes: SCOPES, allowedAddresses: ["198.51.100.0/24"] };
  keys.elsewhere = (await insertApiKey(database, TEST_ORIGIN, elsewhere)).plaintext;
  keys.good = (await newKey(SCOPES)).plaintext;
  keys.expired = (await newKey(SCOPES, new Date(0))).plaintext;
  const revoked = await newKey(SCOPES);
  await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, revoked.id);
  keys.revoked = revoked.plaintext;
  for (const scope of SCOPES) {
    keys.scoped.set(scope, (await newKey(SCOPES.filter((other) => !hasScope([other], scope)))).plaintext);
  }
  open = await serveContract(gateWith({ perSecond: each(0), burstSeconds: 1 }));
  const allowance = { id: "key", dwalletIds: undefined, algorithms: undefined, budget: undefined };
  const narrow = (key: KnownApiKey | undefined) =>
    key && { ...key, allowance: { ...allowance, userReferences: ["alice"] } };
  confined = await serveContract(
    gateWith(
      { perSecond: each(0), burstSeconds: 1 },
      {
        find: async (plaintext, from) => narrow(await lookup.find(plaintext, from)),
        recall: (plaintext) => narrow(lookup.recall(plaintext)),
      },
    ),
  );
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  await open.close();
  await confined.close();
  await database.close();
});
beforeEach(() => {
  open.reached.length = 0;
});

function gateWith(limits: RateLimits, keyLookup: Pick<ApiKeyLookup, "find" | "recall"> = lookup) {
  return createAccessGate({
    lookup: keyLookup,
    adminLookup,
    adminApiKey: new Secret(ADMIN_KEY),
    networks: ["localnet"],
    // The clock stands still, so that no call is allowed again while the machine is busy.
    limiter: createRateLimiter({ limits, coordination: createLocalCoordination(() => 0) }),
    beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
  });
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const testnet = { "x-network": "testnet" };

const protocols = METHODS.flatMap((method) =>
  (["rest", "grpc"] as const).map((protocol) => {
    const policy = methodPolicy(method);
    return { name: `${method.parent.name}/${method.name}`, protocol, method, policy };
  }),
);
/** The method itself verifies an ID token, in the body. */
const NO_KEY: ReadonlySet<string> = new Set(["public", "idToken"]);
const withKey = protocols.filter(({ policy }) => !NO_KEY.has(policy.access));
const ofProjects = protocols.filter(({ policy }) => policy.access === "project");
const ofScopes = ofProjects.filter(({ policy }) => policy.scope !== "any");
const ofEveryKey = ofProjects.filter(({ policy }) => policy.scope === "any");
const ofAdmins = protocols.filter(({ policy }) => policy.access === "admin");
const ofAnyone = protocols.filter(({ policy }) => NO_KEY.has(policy.access));
type ProtocolClient = (typeof protocols)[number];

const goodKeyOf = ({ policy }: ProtocolClient) =>
  NO_KEY.has(policy.access) ? {} : bearer(policy.access === "admin" ? ADMIN_KEY : keys.good);

async function expectRefusal(
  { protocol, method }: ProtocolClient,
  headers: Record<string, string>,
  reason: string,
): Promise<void> {
  expect((await open[protocol](method, headers)).reason).toBe(reason);
  expect(open.reached).toEqual([]);
}

describe("an unknown key", () => {
  it.each(withKey)("is refused by $name over $protocol", async (call) => {
    await expectRefusal(call, {}, "MISSING_KEY");
    await expectRefusal(call, { authorization: "Basic YTpi" }, "MISSING_KEY");
    await expectRefusal(call, bearer(UNKNOWN_KEY), "INVALID_KEY");
    await expectRefusal(call, { "x-api-key": "nonsense" }, "INVALID_KEY");
    await expectRefusal(call, bearer(keys.revoked), "REVOKED_KEY");
    await expectRefusal(call, bearer(keys.expired), "EXPIRED_KEY");
  });
});

describe("a key of the wrong kind", () => {
  it.each(ofProjects)("is refused by $name over $protocol, which is for projects", async (call) => {
    await expectRefusal(call, bearer(ADMIN_KEY), "INVALID_KEY");
    await expectRefusal(call, bearer(keys.named), "INVALID_KEY");
  });

  it.each(ofScopes)("is refused by $name over $protocol, whose scope it lacks", async (call) => {
    await expectRefusal(call, bearer(keys.scoped.get(call.policy.scope as Scope)!), "SCOPE_MISSING");
  });

  it.each(ofAdmins)("is refused by $name over $protocol, which is for admins", async (call) => {
    await expectRefusal(call, bearer(keys.good), "ADMIN_ONLY");
    await expectRefusal(call, bearer(`${ADMIN_KEY}x`), "INVALID_KEY");
  });
});

describe("a project's key of any scope", () => {
  it.each(ofEveryKey)("may call $name over $protocol", async (call) => {
    // CancelSign lets one of three scopes through itself. Here it gets no id, and refuses that behind the gate.
    const passed = call.method.name === "CancelSign" && call.protocol === "rest" ? "VALIDATION" : undefined;
    for (const key of keys.scoped.values())
      expect((await open[call.protocol](call.method, bearer(key))).reason).toBe(passed);
  });
});

describe("a named admin key", () => {
  it.each(ofAdmins)("may call $name over $protocol unless it requires ADMIN_API_KEY", async (call) => {
    const { reason } = await open[call.protocol](call.method, bearer(keys.named));
    const isRootOnly = call.method.name === "CreateAdminKey";
    const hasBody = call.protocol === "rest" && reason !== undefined;
    expect(reason).toBe(isRootOnly ? "ROOT_KEY_ONLY" : hasBody ? "VALIDATION" : undefined);
  });
});

describe("a key that is confined to a user", () => {
  it.each(ofProjects)("may call $name over $protocol only if the method confines itself", async (call) => {
    const { reason } = await confined[call.protocol](call.method, bearer(keys.good));
    const hasBody = call.protocol === "rest" && reason !== undefined && call.policy.reach === "own";
    expect(reason).toBe(call.policy.reach === "own" ? (hasBody ? "VALIDATION" : undefined) : "OUT_OF_REACH");
    expect(confined.reached).toEqual(reason === undefined ? [call.method.name] : []);
    confined.reached.length = 0;
  });
});

describe("a key from an address that it does not allow", () => {
  it.each(ofProjects)("is refused by $name over $protocol before any other check", async (call) => {
    await expectRefusal(call, bearer(keys.elsewhere), "ADDRESS_NOT_ALLOWED");
    await expectRefusal(call, { ...bearer(keys.elsewhere), ...testnet }, "ADDRESS_NOT_ALLOWED");
  });
});

describe("another network", () => {
  it.each(ofProjects)("than the key's is refused by $name over $protocol", async (call) => {
    await expectRefusal(call, { ...bearer(keys.good), ...testnet }, "NETWORK_MISMATCH");
    // The key is checked first.
    await expectRefusal(call, { ...bearer(UNKNOWN_KEY), ...testnet }, "INVALID_KEY");
  });

  it.each(ofScopes)("than the key's is refused by $name over $protocol before the scope", async (call) => {
    const scopeless = bearer(keys.scoped.get(call.policy.scope as Scope)!);
    await expectRefusal(call, { ...scopeless, ...testnet }, "NETWORK_MISMATCH");
  });

  it.each([...ofAdmins, ...ofAnyone])(
    "than those served is refused by $name over $protocol",
    async (call) => {
      await expectRefusal(call, { ...goodKeyOf(call), ...testnet }, "NETWORK_DISABLED");
    },
  );
});

describe("too many calls", () => {
  it.each(protocols)("are refused by $name over $protocol", async (call) => {
    const limited = await serveContract(gateWith(ONE_CALL));
    try {
      const first = await limited[call.protocol](call.method, goodKeyOf(call));
      expect(first.reason).not.toBe("RATE_LIMITED");
      if (first.reason === undefined) {
        expect(first.headers.get("ratelimit-limit")).toBe("1");
        expect(first.headers.get("ratelimit-remaining")).toBe("0");
        expect(first.headers.get("ratelimit-reset")).toBe("1000");
      }
      const refusal = await limited[call.protocol](call.method, goodKeyOf(call));
      expect(refusal.reason).toBe("RATE_LIMITED");
      expect(refusal.headers.get("ratelimit-limit")).toBe("1");
      expect(refusal.headers.get("ratelimit-remaining")).toBe("0");
      expect(refusal.headers.get("retry-after")).toBe("1000");
      expect(refusal.headers.get("ratelimit-reset")).toBe("1000");
      // Callers without permission do not use up the rate of others.
      if (!NO_KEY.has(call.policy.access)) {
        expect((await limited[call.protocol](call.method, {})).reason).toBe("MISSING_KEY");
      }
    } finally {
      await limited.close();
    }
  });
});

describe("a permitted caller", () => {
  it.each(protocols)("may call $name over $protocol", async (call) => {
    const { reason } = await open[call.protocol](call.method, {
      ...goodKeyOf(call),
      "x-network": "localnet",
    });
    // The body of a REST call is not JSON, which the server notices only after the gate.
    const hasBody = call.protocol === "rest" && reason !== undefined;
    expect(reason).toBe(hasBody ? "VALIDATION" : undefined);
    expect(open.reached).toEqual(hasBody ? [] : [call.method.name]);
  });
});
