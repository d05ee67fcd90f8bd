/** The import of a key: its price, its operation, and its return after a restore. */
import { randomBytes, randomInt } from "node:crypto";
import { Transaction } from "@mysten/sui/transactions";
import { toBase58 } from "@mysten/sui/utils";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CreateDWalletRequest, DWalletKind } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import type { LandedTransaction } from "../../../../src/service/chain/operation.ts";
import type { PastTransaction } from "../../../../src/service/chain/restore/lost-transactions.ts";
import { createImportCeilings } from "../../../../src/service/chain/treasury/ceilings.ts";
import type { ChainCalls } from "../../../../src/service/chain/treasury/treasury-calls.ts";
import { createDkgOperation } from "../../../../src/service/onboarding/dkg-operation.ts";
import { encodeDWallet } from "../../../../src/service/onboarding/dwallet-row.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createDWalletRebuilder } from "../../../../src/service/restore/rebuild-onboarding.ts";
import { dkgRequested, importPaid, importRequested } from "../../../support/chain/chain-bytes.ts";
import { importOfForm } from "../../../support/crypto/dkg-form.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import { moneyOf, objectId, projectWith } from "../../../support/database/rows.ts";
import { onboardingCalls, type TestEncryptionKey } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const IMPORT_PRICE = 700n;
let database: Database;
let projectId: string;
let calls: ReturnType<typeof onboardingCalls>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  calls = onboardingCalls(database, { dkgPriceMicroUsd: 1n, importPriceMicroUsd: IMPORT_PRICE });
});

const importRequest = (key: TestEncryptionKey, change: Partial<CreateDWalletRequest> = {}) =>
  calls.dkgRequest(key, {
    kind: DWalletKind.imported_key,
    ...importOfForm("SECP256K1", randomInt(1, 1_000_000)),
    ...change,
  } as Partial<CreateDWalletRequest>);

const dkgRequest = (key: TestEncryptionKey) => calls.dkgRequest(key);

describe("an imported key", () => {
  it("is charged once, at its own price, and says of what kind it is", async () => {
    const request = importRequest(await calls.registeredKey(projectId));
    const made = await calls.createDWallet(projectId, request);
    expect(await calls.createDWallet(projectId, request)).toEqual(made);
    expect(encodeDWallet(made).kind).toBe(DWalletKind.imported_key);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 1_000n - IMPORT_PRICE });
  });

  it("is refused below its price, even if a DKG could be paid", async () => {
    const poor = await projectWith(database, IMPORT_PRICE - 1n);
    const key = await calls.registeredKey(poor);
    expect(await refusalOf(calls.createDWallet(poor, importRequest(key)))).toBe("INSUFFICIENT_CREDIT");
    const made = await calls.createDWallet(poor, calls.dkgRequest(key));
    expect(encodeDWallet(made).kind).toBe(DWalletKind.dkg);
  });

  it("is refused with the message of a DKG, and a DKG with that of an imported key", async () => {
    const key = await calls.registeredKey(projectId);
    const message = { ...importRequest(key), kind: DWalletKind.DWALLET_KIND_UNSPECIFIED };
    for (const request of [
      calls.dkgRequest(key, { kind: DWalletKind.imported_key }),
      calls.dkgRequest(key, message as Partial<CreateDWalletRequest>),
    ])
      expect(await refusalOf(calls.createDWallet(projectId, request))).toBe("VALIDATION");
  });

  it("is refused before it is charged while the Treasury has no ceiling for imports of its curve", async () => {
    const entry = { signatureAlgorithm: 0, ika: 1n, sui: 1n };
    const ceilings = [
      { operation: "import" as const, curve: 1, ...entry },
      { operation: "dkg" as const, curve: 0, ...entry },
    ];
    let nowMs = 0;
    let readCount = 0;
    const read = async () => {
      readCount++;
      return [...ceilings];
    };
    const paysImports = createImportCeilings({ ceilings: read }, { now: () => nowMs });
    calls = onboardingCalls(database, { importPriceMicroUsd: IMPORT_PRICE, paysImports });
    const request = importRequest(await calls.registeredKey(projectId));
    for (let attempt = 0; attempt < 3; attempt++)
      expect(await refusalOf(calls.createDWallet(projectId, request))).toBe("CHAIN_REJECTED");
    expect(readCount).toBe(1);
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 1_000n });
    ceilings.push({ operation: "import", curve: 0, ...entry });
    nowMs = 10_000;
    expect(encodeDWallet(await calls.createDWallet(projectId, request)).kind).toBe(DWalletKind.imported_key);
  });

  it("is another request than a DKG in the same session", async () => {
    const key = await calls.registeredKey(projectId);
    const request = importRequest(key);
    await calls.createDWallet(projectId, request);
    const again = calls.dkgRequest(key, { sessionIdentifier: request.sessionIdentifier });
    expect(await refusalOf(calls.createDWallet(projectId, again))).toBe("SESSION_REUSED");
  });

  it("is paid as an import, and found by its event", async () => {
    const key = await calls.registeredKey(projectId);
    const request = importRequest(key);
    const { id } = await calls.createDWallet(projectId, request);
    await database.query("UPDATE dwallet SET state = 'Submitting', object_id = NULL WHERE id = $1", [id]);
    const preimage = sessionIdentifierPreimage(request.sessionIdentifier, request.senderAddress);
    const ids = { dwalletId: objectId(), capId: objectId(), shareId: objectId() };
    const other = sessionIdentifierPreimage(new Uint8Array(randomBytes(32)), request.senderAddress);
    let found: LandedTransaction = { digest: "wrong", version: 1n, events: [importRequested(other, ids)] };
    const reader = { sessionRequest: async () => found };
    const operation = createDkgOperation(reader, request.senderAddress);
    const subject = (await operation.load(database, [id])).get(id)!;

    const paid: unknown[] = [];
    operation.add({ payImport: (call: unknown) => paid.push(call) } as unknown as ChainCalls, [subject]);
    expect(paid).toMatchObject([{ userDkgMessage: request.userDkgMessage }]);

    const refusal = { reason: "", message: "" };
    await expect(operation.adopt(database, subject, refusal)).rejects.toThrow("requested no DKG");
    const own = { ...ids, ownerAddress: key.signerAddress };
    found = { ...found, digest: "right", events: [importRequested(preimage, own)] };
    expect(await operation.adopt(database, subject, refusal)).toBe(true);
    const [row] = await database.query("SELECT state, object_id, cap_id FROM dwallet WHERE id = $1", [id]);
    expect(row).toEqual({
      state: "AwaitingNetworkDKGVerification",
      object_id: ids.dwalletId,
      cap_id: ids.capId,
    });
  });

  it("that the database lost returns with its kind, and is charged once at its own price", async () => {
    const key = await calls.registeredKey(projectId);
    const ids = { dwalletId: objectId(), capId: objectId(), shareId: objectId() };
    const [session, sender, rowId] = [new Uint8Array(randomBytes(32)), objectId(), crypto.randomUUID()];
    const preimage = sessionIdentifierPreimage(session, sender);
    const events = [importRequested(preimage, ids, key.objectId), importPaid(ids.dwalletId, rowId)];
    const prices = { dkgMicroUsd: 1n, importMicroUsd: IMPORT_PRICE };
    const rebuilder = createDWalletRebuilder("localnet", { ...flatPrices(0n), ...prices });
    const past = { bytes: await transactionWith(sender, session), sender } as PastTransaction;
    for (let time = 0; time < 2; time++) {
      const landed = { digest: "digest", version: 1n, events };
      expect(await rebuilder.rebuild(database, landed, past)).toEqual({
        subjectIds: [rowId],
        unrecoverable: [],
      });
    }
    const [row] = await database.query("SELECT kind, user_dkg_message FROM dwallet WHERE id = $1", [rowId]);
    expect(row).toMatchObject({ kind: "imported_key" });
    expect(await moneyOf(database, projectId)).toMatchObject({ balance: 1_000n - IMPORT_PRICE });
  });

  it.each([
    ["imported key", "of a DKG", dkgRequested, importRequest, true],
    ["imported key", "of another owner's import", importRequested, importRequest, false],
    ["ordinary dWallet", "of an import", importRequested, dkgRequest, true],
    ["ordinary dWallet", "of another owner's DKG", dkgRequested, dkgRequest, false],
  ] as const)(
    "ends and is refunded if the request of an %s names a session that the chain has %s, so no queue waits for it",
    async (_, __, requested, requestFor, isOwner) => {
      const key = await calls.registeredKey(projectId);
      const request = requestFor(key);
      const { id } = await calls.createDWallet(projectId, request);
      await database.query("UPDATE dwallet SET state = 'Submitting', object_id = NULL WHERE id = $1", [id]);
      const preimage = sessionIdentifierPreimage(request.sessionIdentifier, request.senderAddress);
      const ownerAddress = isOwner ? key.signerAddress : objectId();
      const ids = { dwalletId: objectId(), capId: objectId(), shareId: objectId(), ownerAddress };
      const found = { digest: "older", version: 1n, events: [requested(preimage, ids)] };
      const operation = createDkgOperation({ sessionRequest: async () => found }, request.senderAddress);
      const subject = (await operation.load(database, [id])).get(id)!;
      expect(await operation.adopt(database, subject, { reason: "", message: "" })).toBe(true);
      const [row] = await database.query(
        "SELECT state, object_id, failure_reason, refunded FROM dwallet WHERE id = $1",
        [id],
      );
      expect(row).toEqual({
        state: "Failed",
        object_id: null,
        failure_reason: "DWALLET_TAKEN",
        refunded: true,
      });
      expect(await moneyOf(database, projectId)).toMatchObject({ balance: 1_000n });
    },
  );

  it("of an unknown project returns only when its owner adopts it", async () => {
    const ids = { dwalletId: objectId(), capId: objectId(), shareId: objectId() };
    const [session, sender] = [new Uint8Array(randomBytes(32)), objectId()];
    const preimage = sessionIdentifierPreimage(session, sender);
    const events = [
      importRequested(preimage, ids, objectId()),
      importPaid(ids.dwalletId, crypto.randomUUID()),
    ];
    const past = { bytes: await transactionWith(sender, session), sender } as PastTransaction;
    const landed = { digest: "digest", version: 1n, events };
    const rebuilt = await createDWalletRebuilder("localnet", flatPrices(0n)).rebuild(database, landed, past);
    expect(rebuilt).toEqual({
      subjectIds: [],
      unrecoverable: [
        {
          what: "dWallet",
          id: ids.dwalletId,
          reason: expect.stringContaining("calling RegisterEncryptionKey and AdoptDWallet"),
        },
      ],
    });
  });
});

it("a DKG is the same request whether it names its kind or not", async () => {
  const key = await calls.registeredKey(projectId);
  const request = calls.dkgRequest(key);
  const made = await calls.createDWallet(projectId, request);
  const named = { ...request, kind: DWalletKind.dkg };
  expect(await calls.createDWallet(projectId, named)).toEqual(made);
});

/** A transaction that passes one session to the chain. */
async function transactionWith(sender: string, session: Uint8Array): Promise<Uint8Array> {
  const sent = new Transaction();
  sent.setSender(sender);
  sent.setGasPrice(1);
  sent.setGasBudget(1);
  sent.setGasPayment([{ objectId: objectId(), version: "1", digest: toBase58(new Uint8Array(32)) }]);
  sent.moveCall({ target: "0x1::vector::length", arguments: [sent.pure.vector("u8", session)] });
  return await sent.build();
}
