import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { sessionIdentifierDigest } from "../../../../src/protocol/chain/session-identifier.ts";
import { createDWallet } from "../../../../src/service/onboarding/create-dwallet.ts";
import { encodeDWallet } from "../../../../src/service/onboarding/dwallet-row.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { moneyOf, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const QUOTA = 2;
let database: Database;
let projectId: string;
let calls: ReturnType<typeof onboardingCalls>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000_000n);
  calls = onboardingCalls(database, { dkgsPerDay: QUOTA });
});

describe("a dWallet", () => {
  it("is created once for a session, and a repeat returns the same one", async () => {
    const request = calls.dkgRequest(await calls.registeredKey(projectId));
    const first = await calls.createDWallet(projectId, request);
    expect(await calls.createDWallet(projectId, request)).toEqual(first);
    expect(await dkgCount(projectId)).toBe(1);
  });

  it("is returned at once when it is on the chain, however little time the call has", async () => {
    const request = calls.dkgRequest(await calls.registeredKey(projectId));
    const first = await calls.createDWallet(projectId, request);
    const caller = { projectId, origin: TEST_ORIGIN };
    const time = { timeoutMs: 0, signal: new AbortController().signal };
    expect(await createDWallet(calls.deps, caller, request, time)).toEqual(first);
  });

  it("is created only for the encryption key's signer, and only under the sending address", async () => {
    const key = await calls.registeredKey(projectId);
    const other = await calls.registeredKey(await projectWith(database, 0n));
    const { signerPublicKey } = other;
    expect(await refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key, { signerPublicKey })))).toBe(
      "VALIDATION",
    );
    const senderAddress = `0x${"7".repeat(64)}`;
    expect(await refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key, { senderAddress })))).toBe(
      "WRONG_SENDER",
    );
    expect(await dkgCount(projectId)).toBe(0);
  });

  it("is refused for an unknown key, for a key on another curve, and for an old network key", async () => {
    const key = await calls.registeredKey(projectId);
    const foreign = await calls.registeredKey(await projectWith(database, 0n));
    const refuse = (change: Parameters<typeof calls.dkgRequest>[1]) =>
      refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key, change)));
    expect(await refuse({ encryptionKeyId: foreign.objectId })).toBe("ENCRYPTION_KEY_NOT_FOUND");
    expect(await refuse({ curve: Curve.ED25519 })).toBe("VALIDATION");
    expect(await refuse({ networkEncryptionKeyId: foreign.objectId })).toBe("STALE_NETWORK_KEY");
    expect(await dkgCount(projectId)).toBe(0);
  });

  it("is refused without the credit for its price, and is charged once", async () => {
    calls = onboardingCalls(database, { dkgPriceMicroUsd: 600_000n });
    const key = await calls.registeredKey(projectId);
    const request = calls.dkgRequest(key);
    await calls.createDWallet(projectId, request);
    await calls.createDWallet(projectId, request);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 400_000n, differences: [] });
    expect(await refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key)))).toBe(
      "INSUFFICIENT_CREDIT",
    );
    expect(await dkgCount(projectId)).toBe(1);
  });

  it("is returned with the digest of its session, from which its user derives the share", async () => {
    const request = calls.dkgRequest(await calls.registeredKey(projectId));
    const { sessionDigest } = encodeDWallet(await calls.createDWallet(projectId, request));
    const { sessionIdentifier, senderAddress } = request;
    expect(sessionDigest).toEqual(sessionIdentifierDigest(sessionIdentifier, senderAddress));
  });

  it("is refused beyond the quota, and nothing is queued", async () => {
    const key = await calls.registeredKey(projectId);
    for (let count = 0; count < QUOTA; count++) {
      await calls.createDWallet(projectId, calls.dkgRequest(key));
    }
    const request = calls.dkgRequest(key);
    expect(await refusalOf(calls.createDWallet(projectId, request))).toBe("QUOTA_EXCEEDED");
    expect(await dkgCount(projectId)).toBe(QUOTA);
  });

  it("of another project's session is never shown, even for an identical request", async () => {
    const key = await calls.registeredKey(projectId);
    const request = calls.dkgRequest(key);
    await calls.createDWallet(projectId, request);
    const other = await projectWith(database, 1_000_000n);
    await calls.registeredKey(other, key);
    expect(await refusalOf(calls.createDWallet(other, request))).toBe("SESSION_REUSED");
    expect(await dkgCount(other)).toBe(0);
  });

  it("is not created by another request in the same session", async () => {
    const key = await calls.registeredKey(projectId);
    const request = calls.dkgRequest(key);
    await calls.createDWallet(projectId, request);
    const { sessionIdentifier } = request;
    const another = calls.dkgRequest(key, { sessionIdentifier });
    expect(await refusalOf(calls.createDWallet(projectId, another))).toBe("SESSION_REUSED");
  });

  it("is named in the refusal of another request in the session to its own project only", async () => {
    const key = await calls.registeredKey(projectId);
    const request = calls.dkgRequest(key);
    const { objectId: dwalletId } = await calls.createDWallet(projectId, request);
    const { sessionIdentifier } = request;
    const another = calls.dkgRequest(key, { sessionIdentifier });
    await expect(calls.createDWallet(projectId, another)).rejects.toMatchObject({
      metadata: { dwalletId, state: "Submitting" },
    });
    const other = await projectWith(database, 1_000_000n);
    await calls.registeredKey(other, key);
    const refusal = await calls.createDWallet(other, another).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ reason: "SESSION_REUSED" });
    expect(JSON.stringify(refusal)).not.toContain(dwalletId);
  });
});

/** The number of DKGs that were ever queued for the project. */
async function dkgCount(project: string): Promise<number> {
  const rows = await database.query(
    "SELECT 1 FROM chain_operation o JOIN dwallet d ON d.id = o.subject_id WHERE o.kind = 'dkg' AND d.project_id = $1",
    [project],
  );
  return rows.length;
}
