/** The addresses from which a key may be used: which address counts, and which callers the gate admits. */
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ApiKey_Scope as Scope } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { createAddressList, readAllowedAddresses } from "../../../../src/service/access/address-block.ts";
import { createClientAddress } from "../../../../src/service/access/client-address.ts";
import { createRateLimiter } from "../../../../src/service/access/rate-limiter.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { type AdminReplica, adminReplica, trailOf } from "../../../support/service/admin-client.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

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

const made = (allowedAddresses: string[] = []) =>
  replica.admin.createApiKey({ projectId, name: "web", scopes: [Scope.sign], allowedAddresses });

/** Calls with the key from an address, optionally through proxies. */
async function call(key: string, peer: string, at = replica, forwardedFor?: string): Promise<string> {
  const limits = {
    perSecond: { read: 0, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0, open: 0 },
    burstSeconds: 1,
  };
  const clientAddress = createClientAddress(["10.0.0.0/8"]);
  const gate = createAccessGate({
    lookup: at.lookup,
    adminLookup: at.adminLookup,
    adminApiKey: undefined,
    networks: ["localnet"],
    limiter: createRateLimiter({ limits }),
    beginTrace: ({ requestHeader }) => ({ requestId: "r-1", address: clientAddress(peer, requestHeader) }),
    now: () => nowMs,
  });
  const requestHeader = new Headers({ authorization: `Bearer ${key}` });
  if (forwardedFor !== undefined) requestHeader.set("x-forwarded-for", forwardedFor);
  const values = createContextValues();
  try {
    await gate({
      method: Signing.method.reserveSign,
      requestHeader,
      responseHeader: new Headers(),
      values,
    });
    return "let in";
  } catch (error) {
    return (error as { reason: string }).reason;
  }
}

describe("a key with allowed addresses", () => {
  it("is accepted only from those addresses, whether it is cached or not", async () => {
    const { apiKey, plaintext } = await made(["203.0.113.7", "198.51.100.0/24", "2001:DB8::/32"]);
    expect(apiKey?.allowedAddresses).toEqual(["203.0.113.7", "198.51.100.0/24", "2001:db8::/32"]);
    for (const [address, outcome] of [
      ["203.0.113.8", "ADDRESS_NOT_ALLOWED"],
      ["203.0.113.7", "let in"],
      ["::ffff:203.0.113.7", "let in"],
      ["198.51.100.255", "let in"],
      ["198.51.101.0", "ADDRESS_NOT_ALLOWED"],
      ["2001:db8:ffff::1", "let in"],
      ["2001:db9::1", "ADDRESS_NOT_ALLOWED"],
      ["", "ADDRESS_NOT_ALLOWED"],
    ] as const) {
      expect(`${address}: ${await call(plaintext, address)}`).toBe(`${address}: ${outcome}`);
    }
    expect(replica.lookup.recall(plaintext)).toBeDefined();
  });

  it("is checked against the address that a trusted proxy reports, and no other", async () => {
    const { plaintext } = await made(["203.0.113.7"]);
    expect(await call(plaintext, "10.0.0.1", replica, "203.0.113.7")).toBe("let in");
    expect(await call(plaintext, "10.0.0.1", replica, "203.0.113.7, 192.0.2.1")).toBe("ADDRESS_NOT_ALLOWED");
    expect(await call(plaintext, "192.0.2.1", replica, "203.0.113.7")).toBe("ADDRESS_NOT_ALLOWED");
  });

  it("applies a change at once in this process and within seconds in others", async () => {
    const { apiKey, plaintext } = await made();
    const apiKeyId = apiKey!.apiKeyId;
    for (const at of [replica, other]) expect(await call(plaintext, "192.0.2.1", at)).toBe("let in");
    const set = await replica.admin.setAllowedAddresses({ apiKeyId, allowedAddresses: ["203.0.113.7"] });
    expect(set.apiKey?.allowedAddresses).toEqual(["203.0.113.7"]);
    expect(await call(plaintext, "192.0.2.1")).toBe("ADDRESS_NOT_ALLOWED");
    nowMs += 5_000;
    expect(await call(plaintext, "192.0.2.1", other)).toBe("ADDRESS_NOT_ALLOWED");
    await replica.admin.setAllowedAddresses({ apiKeyId: apiKeyId.toUpperCase(), allowedAddresses: [] });
    expect(await call(plaintext, "192.0.2.1")).toBe("let in");
    // Setting the same addresses again changes nothing and is not audited.
    await replica.admin.setAllowedAddresses({ apiKeyId, allowedAddresses: [] });
    expect(await trailOf(database, apiKeyId)).toEqual([
      "api_key.create by admin",
      "api_key.set_allowed_addresses by admin",
      "api_key.set_allowed_addresses by admin",
    ]);
  });

  it("that does not exist is not found", async () => {
    expect(await refusalOf(replica.admin.setAllowedAddresses({ apiKeyId: newId() }))).toBe(
      "API_KEY_NOT_FOUND",
    );
  });

  it.each([
    ["localhost"],
    ["203.0.113.256"],
    ["203.0.113.7/33"],
    ["203.0.113.7/24"],
    ["2001:db8::1/32"],
    ["2001:db8::/129"],
    ["fe80::1%eth0"],
    ["::ffff:203.0.113.0/64"],
    [""],
  ])("with %j is refused", async (address) => {
    expect(await refusalOf(made(["192.0.2.1", address]))).toBe("VALIDATION");
    const { apiKey } = await made();
    const set = { apiKeyId: apiKey!.apiKeyId, allowedAddresses: [address] };
    expect(await refusalOf(replica.admin.setAllowedAddresses(set))).toBe("VALIDATION");
  });
});

describe("a list of addresses", () => {
  it("contains each block once in canonical form, and the error names an invalid item", () => {
    expect(readAllowedAddresses(["2001:DB8:0::1", "2001:db8::1/128", "::ffff:192.0.2.0/120"])).toEqual([
      "2001:db8::1",
      "192.0.2.0/24",
    ]);
    expect(() => readAllowedAddresses(["192.0.2.1", "x"])).toThrow(/^allowed_addresses\[1\]/);
  });

  it("separates IPv4 and IPv6", () => {
    expect(createAddressList(["::/0"])("192.0.2.1")).toBe(false);
    expect(createAddressList(["0.0.0.0/0"])("2001:db8::1")).toBe(false);
  });
});
