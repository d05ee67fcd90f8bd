import { randomUUID } from "node:crypto";
/** Whose a dWallet is, and for whom a caller makes one. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { CreateDWalletRequest } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Confinement } from "../../../../src/service/access/allowances/allowance.ts";
import { acceptDWallet } from "../../../../src/service/onboarding/accept-dwallet.ts";
import { createDWallet } from "../../../../src/service/onboarding/create-dwallet.ts";
import { storeConsent } from "../../../../src/service/onboarding/custody/consents.ts";
import { encodeDWallet, listDWallets } from "../../../../src/service/onboarding/dwallet-row.ts";
import {
  encodeRegisteredKey,
  listEncryptionKeys,
  registerEncryptionKey,
} from "../../../../src/service/onboarding/encryption-keys.ts";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { freezeUser } from "../../../../src/service/users/users.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { onboardingCalls, type TestEncryptionKey } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const PAGE = { pageSize: 0, pageToken: "" };
const time = () => ({ timeoutMs: 10_000, signal: new AbortController().signal });
let database: Database;
let calls: ReturnType<typeof onboardingCalls>;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
  calls = onboardingCalls(database);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
});

const UNLIMITED = {
  id: randomUUID(),
  userReferences: undefined,
  dwalletIds: undefined,
  algorithms: undefined,
  budget: undefined,
};
const callerOf = (confinement?: Partial<Confinement>) => ({
  projectId,
  origin: TEST_ORIGIN,
  ...(confinement && { allowance: { ...UNLIMITED, ...confinement } }),
});
const alice = () => callerOf({ userReferences: ["alice"] });
const bob = () => callerOf({ userReferences: ["bob"] });

/** A key that is registered for users. */
async function keyFor(...users: string[]): Promise<TestEncryptionKey> {
  const key = await calls.registeredKey(projectId);
  for (const reference of users) {
    await dwalletOf(database, projectId, { state: "Left", userReference: reference });
    await database.query(
      "INSERT INTO encryption_key_user (project_id, reference, encryption_key_id) VALUES ($1, $2, $3)",
      [projectId, reference, key.rowId],
    );
  }
  return key;
}

const make = (caller: ReturnType<typeof callerOf>, request: CreateDWalletRequest) =>
  createDWallet(calls.deps, caller, request, time());

describe("a dWallet", () => {
  it("belongs to the user that the project names, and shows it", async () => {
    const key = await keyFor("alice");
    const row = await make(callerOf(), calls.dkgRequest(key, { userReference: "alice" }));
    expect(encodeDWallet(row).userReference).toBe("alice");
    const own = await make(callerOf(), calls.dkgRequest(key));
    expect(encodeDWallet(own).userReference).toBeUndefined();
  });

  it("belongs to the only user of its caller, named or not, as the same request", async () => {
    const request = calls.dkgRequest(await keyFor("alice"));
    const row = await make(alice(), request);
    expect(row.userReference).toBe("alice");
    expect((await make(alice(), { ...request, userReference: "alice" })).id).toBe(row.id);
    expect((await make(callerOf(), { ...request, userReference: "alice" })).id).toBe(row.id);
    // Another owner is another request.
    expect(await refusalOf(make(callerOf(), request))).toBe("SESSION_REUSED");
  });

  it("is made only for a user of its caller, who must be named if there are several", async () => {
    const key = await keyFor("alice", "bob");
    const both = callerOf({ userReferences: ["alice", "bob"] });
    expect(await refusalOf(make(both, calls.dkgRequest(key)))).toBe("VALIDATION");
    const named = (userReference: string) => calls.dkgRequest(key, { userReference });
    expect((await make(both, named("bob"))).userReference).toBe("bob");
    expect(await refusalOf(make(alice(), named("bob")))).toBe("OUT_OF_REACH");
    expect(await refusalOf(make(callerOf({ dwalletIds: [objectId()] }), named("bob")))).toBe("OUT_OF_REACH");
  });

  it("is made only with a key that is registered for its user", async () => {
    const key = await keyFor("alice");
    expect(await refusalOf(make(bob(), calls.dkgRequest(key)))).toBe("ENCRYPTION_KEY_NOT_FOUND");
    const forBob = calls.dkgRequest(key, { userReference: "bob" });
    expect(await refusalOf(make(callerOf(), forBob))).toBe("ENCRYPTION_KEY_NOT_FOUND");
  });

  it("of another user's session is not shown, even for an identical request", async () => {
    const key = await keyFor("alice", "bob");
    const request = calls.dkgRequest(key);
    const { objectId: made } = await make(alice(), request);
    const refused = await make(bob(), request).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ServiceError);
    const { reason, metadata } = refused as ServiceError;
    expect([reason, Object.keys(metadata)]).toEqual(["SESSION_REUSED", ["sessionIdentifier"]]);
    expect(JSON.stringify(metadata)).not.toContain(made);
  });

  it("has a name that another user's dWallet may have too", async () => {
    const key = await keyFor("alice", "bob");
    const main = () => calls.dkgRequest(key, { name: "main" });
    const made = [await make(alice(), main()), await make(bob(), main()), await make(callerOf(), main())];
    expect(new Set(made.map(({ id }) => id)).size).toBe(3);
    for (const caller of [alice(), bob(), callerOf()])
      expect(await refusalOf(make(caller, main()))).toBe("DWALLET_NAME_TAKEN");
    const namesOf = async (caller: ReturnType<typeof callerOf>, userReference?: string) =>
      (await listDWallets(database, caller, { ...PAGE, name: "main", userReference })).rows.map(
        ({ id }) => id,
      );
    expect(await namesOf(alice())).toEqual([made[0]?.id]);
    // Without a user: what the caller makes if it names none.
    expect(await namesOf(bob(), "")).toEqual([made[1]?.id]);
    expect(await namesOf(callerOf(), "")).toEqual([made[2]?.id]);
    expect(await namesOf(callerOf(), "alice")).toEqual([made[0]?.id]);
    expect(await namesOf(callerOf())).toHaveLength(3);
  });
});

describe("an encryption key", () => {
  it("that a user has registered can be registered for another one, and each sees only itself", async () => {
    const keypair = new Ed25519Keypair();
    const register = async (caller: ReturnType<typeof callerOf>, userReference?: string) => {
      const encryptionKey = new Uint8Array(261).fill(7);
      const signature = await keypair.sign(encryptionKey);
      const signerPublicKey = keypair.getPublicKey().toRawBytes();
      const request = { curve: 11, encryptionKey, signature, signerPublicKey, userReference } as never;
      return encodeRegisteredKey(await registerEncryptionKey(calls.deps, caller, request, time()));
    };
    const first = await register(callerOf());
    expect(first.userReferences).toEqual([]);
    expect((await register(alice())).userReferences).toEqual(["alice"]);
    expect((await register(bob())).userReferences).toEqual(["bob"]);
    const all = await register(callerOf(), "bob");
    expect([all.encryptionKeyId, all.userReferences]).toEqual([first.encryptionKeyId, ["alice", "bob"]]);
    const listed = async (caller: ReturnType<typeof callerOf>, userReference?: string) =>
      (await listEncryptionKeys(database, caller, { ...PAGE, userReference })).rows.length;
    expect([await listed(alice()), await listed(alice(), "bob"), await listed(callerOf(), "bob")]).toEqual([
      ...[1, 0, 1],
    ]);
    expect(await refusalOf(register(alice(), "bob"))).toBe("OUT_OF_REACH");
    await freezeUser(database, callerOf(), "bob");
    expect(await refusalOf(register(callerOf(), "bob"))).toBe("not refused");
    await freezeUser(database, callerOf(), "alice");
    await database.query("DELETE FROM encryption_key_user WHERE reference = 'alice'", []);
    expect(await refusalOf(register(callerOf(), "alice"))).toBe("USER_FROZEN");
  });
});

describe("a frozen user", () => {
  it("has no dWallet made, while the ones that exist are still read", async () => {
    const key = await keyFor("alice");
    const request = calls.dkgRequest(key);
    const { id } = await make(alice(), request);
    await freezeUser(database, callerOf(), "alice");
    expect(await refusalOf(make(alice(), calls.dkgRequest(key)))).toBe("USER_FROZEN");
    expect((await make(alice(), request)).id).toBe(id);
    const { rows } = await listDWallets(database, alice(), PAGE);
    expect(rows.map((row) => row.id)).toContain(id);
  });

  it("accepts no share", async () => {
    const keypair = new Ed25519Keypair();
    const state = "AwaitingKeyHolderSignature";
    const dwallet = await dwalletOf(database, projectId, { state, userReference: "alice" });
    const [share, output] = [objectId(), Uint8Array.of(1, 2)];
    await database.query(
      `UPDATE dwallet SET encrypted_user_secret_key_share_id = $2, public_output = $3, signer_public_key = $4
       WHERE id = $1`,
      [dwallet.rowId, share, output, keypair.getPublicKey().toRawBytes()],
    );
    const request = {
      dwalletId: dwallet.objectId,
      encryptedUserSecretKeyShareId: share,
      userOutputSignature: await keypair.sign(output),
    } as never;
    const readerFor = () => ({ getObjects: async () => new Map() }) as never;
    await freezeUser(database, callerOf(), "alice");
    const accepting = acceptDWallet({ ...calls.deps, readerFor }, alice(), request, time());
    expect(await refusalOf(accepting)).toBe("USER_FROZEN");
    const operations = "SELECT 1 FROM chain_operation WHERE subject_id = $1";
    expect(await database.query(operations, [dwallet.rowId])).toEqual([]);
  });

  it("can still take a dWallet out of the service, because the exit is the owner's right", async () => {
    const { rowId, objectId: dwalletId } = await dwalletOf(database, projectId, { userReference: "alice" });
    await freezeUser(database, callerOf(), "alice");
    const consent = {
      ...{ dwalletId, action: "leave" as const, chain: new Uint8Array(32), treasuryId: objectId() },
      ...{ recipient: objectId(), nonce: 0n, expiresEpoch: 1n },
      ...{ publicKey: new Uint8Array(32), signature: new Uint8Array(64) },
    };
    const stored = await storeConsent(database, alice(), {
      network: "localnet",
      dwalletRowId: rowId,
      consent,
    });
    expect(stored).toBeDefined();
    const [row] = await database.query<{ state: string }>("SELECT state FROM dwallet WHERE id = $1", [rowId]);
    expect(row?.state).toBe("Leaving");
  });
});
