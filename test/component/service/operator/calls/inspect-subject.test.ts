/** An operator sees what happened to a request or a dWallet of any project, and not what was signed or for whom. */
import { toJsonString } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import {
  Admin,
  InspectSubjectResponseSchema,
  ChainOperation_Kind as Kind,
  InspectedOperation_State as State,
} from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { LedgerEntry_Kind } from "../../../../../gen/proto/tss/v1/billing_pb.ts";
import { SignRequest_Status as Status } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { chargeDkg } from "../../../../../src/service/onboarding/create-dwallet.ts";
import { createInspectCalls } from "../../../../../src/service/operator/calls/inspect-calls.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import {
  dwalletOf,
  objectId,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";

let database: Database;
let network: string;
let steps: ReturnType<typeof signSteps>;
let projectId: string;
let dwallet: TestDWalletRow;
let admin: ReturnType<typeof clientOf<typeof Admin>>;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = signSteps(database, createLocalSignals());
  const calls = createInspectCalls(database) as ServiceImpl<typeof Admin>;
  admin = clientOf(Admin, calls, () => ({
    kind: "admin",
    network,
    networks: [network],
    origin: { actor: "admin:carol", requestId: "r-7" },
  }));
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  network = "localnet";
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId, { userReference: "alice@example.org" });
  await readyPresigns(database, dwallet.bucket, 1);
});

const inspect = (subjectId: string) => admin.inspectSubject({ subjectId });
const eventsOf = (subject: string) =>
  database.query(
    "SELECT actor, action, request_id AS request, project_id AS project FROM audit_event WHERE subject = $1 AND action LIKE 'subject.%'",
    [subject],
  );

it("a failed request has its reason, operation and ledger entries, and its project an event", async () => {
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  await steps.refuse(id);
  await database.query(
    `UPDATE chain_operation SET state = 'failed', failure_reason = 'CHAIN_REJECTED', failure_detail = 'the chain said no'
     WHERE subject_id = $1`,
    [id],
  );
  const found = await inspect(id);
  expect(found).toMatchObject({
    ...{ subjectId: id, projectId },
    signRequest: {
      ...{ signRequestId: id, dwalletId: dwallet.objectId, status: Status.failed, priceMicroUsd: 10n },
      failure: { reason: "CHAIN_REJECTED", message: "the chain said no", refunded: true },
    },
    operations: [
      {
        ...{ kind: Kind.sign, state: State.failed, attemptCount: 0 },
        ...{ failureReason: "CHAIN_REJECTED", failureMessage: "the chain said no" },
      },
    ],
    ledgerEntries: [
      { ledgerEntryId: `sign:${id}`, kind: LedgerEntry_Kind.sign, amountMicroUsd: -10n },
      { ledgerEntryId: `refund:${id}`, kind: LedgerEntry_Kind.refund, amountMicroUsd: 10n },
    ],
  });
  expect(await eventsOf(id)).toEqual([
    { actor: "admin:carol", action: "subject.inspect", request: "r-7", project: projectId },
  ]);
});

it("a completed request is shown without its message, its signature and its user", async () => {
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  await steps.land(id);
  await steps.complete(id, dwallet);
  const { signRequest } = await inspect(id);
  expect(signRequest).toMatchObject({ status: Status.completed, txDigest: "digest" });
  expect(signRequest?.message).toHaveLength(0);
  expect([signRequest?.signature, signRequest?.userReference]).toEqual([undefined, undefined]);
});

it("a dWallet is found by the id of its object and of its row, with its DKG and its charge", async () => {
  const operationId = newId();
  const dkg = { dwalletId: dwallet.rowId, operationId, priority: 0, traceParent: undefined };
  await chargeDkg(database, { ...dkg, projectId, network, priceMicroUsd: 25n });
  const found = await inspect(dwallet.objectId);
  expect(found).toMatchObject({
    ...{ subjectId: dwallet.rowId, projectId },
    dwallet: { dwalletId: dwallet.objectId, state: "Active" },
    operations: [{ kind: Kind.dkg, state: State.queued }],
    ledgerEntries: [{ ledgerEntryId: `dkg:${dwallet.rowId}`, amountMicroUsd: -25n }],
  });
  expect(toJsonString(InspectSubjectResponseSchema, found)).not.toContain("alice");
  expect(await inspect(dwallet.rowId)).toEqual(found);
  expect(await eventsOf(dwallet.rowId)).toHaveLength(2);
});

it("an operation of something else is found by its subject, with its transaction", async () => {
  const subjectId = newId();
  const digest = `digest of ${subjectId}`;
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, error, resolved_at)
     VALUES ($1, 'localnet', '0x1', '0x2', '\\x01', '{}', 'aborted', 'out of gas', now())`,
    [digest],
  );
  await database.query(
    `INSERT INTO chain_operation (id, network, kind, subject_id, priority, state, attempts, tx_digest)
     VALUES ($1, 'localnet', 'presign', $2, 0, 'sent', 3, $3)`,
    [newId(), subjectId, digest],
  );
  const found = await inspect(subjectId);
  expect(found).toMatchObject({
    subjectId,
    operations: [
      {
        ...{ kind: Kind.presign, state: State.sent, attemptCount: 3 },
        chainTransaction: { txDigest: digest, errorMessage: "out of gas", sendCount: 1 },
      },
    ],
  });
  expect([found.projectId, found.signRequest, found.dwallet]).toEqual([undefined, undefined, undefined]);
  expect(await eventsOf(subjectId)).toMatchObject([{ project: null }]);
});

it("nothing of another network, and nothing unknown, is found or leaves an event", async () => {
  const id = await steps.reserve(projectId, dwallet);
  network = "testnet";
  for (const other of [id, dwallet.rowId, dwallet.objectId, newId(), objectId()]) {
    expect(await refusalOf(inspect(other))).toBe("SUBJECT_NOT_FOUND");
    expect(await eventsOf(other)).toEqual([]);
  }
  for (const malformed of ["", "0x1", id.toUpperCase(), `${id} `])
    expect(await refusalOf(inspect(malformed))).toBe("VALIDATION");
});
