import { readStoredKeys, STORED_API_KEYS } from "../../../src/service/access/keys/stored-keys.ts";
import { listAuditEvents } from "../../../src/service/audit/list-audit-events.ts";
import { readUnsealedAgeMs, sealEvents } from "../../../src/service/audit/seal-events.ts";
import { listLedgerEntries } from "../../../src/service/billing/ledger-entries.ts";
import { addLane, leaseLane } from "../../../src/service/chain/submit/lane-table.ts";
import * as outbox from "../../../src/service/chain/submit/outbox.ts";
import {
  emptyTransactions,
  isKnownTransaction,
  resolveTransaction,
} from "../../../src/service/chain/submit/outbox.ts";
import { checkQuota } from "../../../src/service/onboarding/check-quota.ts";
import { findDWallet, listDWallets } from "../../../src/service/onboarding/dwallet-row.ts";
import { createDWalletSession } from "../../../src/service/onboarding/dwallet-session.ts";
import { findKeyByObject, listEncryptionKeys } from "../../../src/service/onboarding/encryption-keys.ts";
import { listChainTransactions } from "../../../src/service/operator/calls/chain-calls.ts";
import { readDatabaseFigures } from "../../../src/service/operator/metrics/read-database-figures.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { findRemembered, sweepKeys } from "../../../src/service/platform/idempotency/key-table.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { readWarmBuckets } from "../../../src/service/presigns/bucket.ts";
import { createPresignSession } from "../../../src/service/presigns/presign-session.ts";
import { readDemand } from "../../../src/service/presigns/read-demand.ts";
import {
  deleteLapsedReservations,
  emptyRequests,
} from "../../../src/service/signing/loops/retention-loop.ts";
import {
  listSigns,
  readShownSignRequest,
  SIGN_STATUSES,
} from "../../../src/service/signing/shown-sign-request.ts";
import { signSteps } from "../crypto/sign-steps.ts";
import { dwalletOf, keyed, NO_ROW, objectId, readyPresigns } from "../database/rows.ts";
import { silentLog } from "../silent-log.ts";

const NETWORK = "localnet";
const PAGE = { pageSize: 20, pageToken: "" };

/** The caller of {@link callEverythingHot}. */
export interface HotCaller {
  /** A project with credit. */
  readonly projectId: string;
  readonly networkEncryptionKeyId: string;
}

/**
 * Runs each frequent statement of callers, workers and metrics once. Add new frequent statements here, so that the test
 * of old rows covers them.
 */
export async function callEverythingHot(database: Database, caller: HotCaller): Promise<void> {
  await sign(database, caller);
  await submitToChain(database);
  await list(database, caller);
  await watch(database, caller);
}

async function sign(database: Database, { projectId, networkEncryptionKeyId }: HotCaller): Promise<void> {
  const dwallet = await dwalletOf(database, projectId, { networkEncryptionKeyId });
  await readyPresigns(database, dwallet.bucket, 10);
  const steps = signSteps(database, createLocalSignals());
  const reserved = () => steps.reserve(projectId, dwallet);
  const submitted = async () => {
    const id = await reserved();
    await steps.submit(projectId, id);
    return id;
  };
  const landed = async () => {
    const id = await submitted();
    await steps.land(id);
    return id;
  };
  await steps.complete(await landed(), dwallet);
  await steps.reject(await landed());
  await steps.refuse(await submitted());
  await steps.expire(await reserved());
  await readShownSignRequest(database, { id: await submitted(), caller: { projectId } });
  await readStoredKeys(database, STORED_API_KEYS, ["00".repeat(32)]);
  await findRemembered(database, { scope: projectId, network: NETWORK }, keyed("key"));
  await database.transaction((db) => checkQuota(db, "dwallet", projectId, 1_000_000));
  await database.transaction((db) => checkQuota(db, "encryption_key", projectId, 1_000_000));
  await findDWallet(database, { projectId }, dwallet.objectId);
  await findKeyByObject(database, { projectId, objectId: objectId() });
}

async function submitToChain(database: Database): Promise<void> {
  const laneId = objectId();
  await addLane(database, NETWORK, { objectId: laneId, version: "1", digest: "digest" });
  const lease = await leaseLane(database, laneId, 60_000);
  if (lease === undefined) throw new Error("no lease");
  await outbox.lookForWork(database, NETWORK, laneId);
  await outbox.hasStaleOperation(database, NETWORK, 60_000);
  const claimed = await outbox.claimOperations(database, NETWORK, lease, { sign: 50, presign: 50 });
  const ids = claimed.map(({ id }) => id);
  await outbox.unclaimOperations(database, lease, claimed);
  const stored = { digest: `hot-${laneId}`, bytes: new Uint8Array(1), signatures: [] };
  const transaction = { ...stored, network: NETWORK, sender: objectId() };
  await database.transaction((db) => outbox.storeTransaction(db, lease, transaction, ids));
  await outbox.unresolvedTransaction(database, NETWORK, laneId);
  await database.transaction((db) => outbox.operationsOf(db, stored.digest));
  await isKnownTransaction(database, stored.digest);
  await resolveTransaction(database, stored.digest, { state: "aborted" });
  await outbox.releaseOperations(database, stored.digest);
  await outbox.requeueOperations(database, ids, { alone: false, delayMs: 0 });
  await outbox.finishOperations(database, ids);
}

async function list(database: Database, { projectId }: HotCaller): Promise<void> {
  for (const status of [undefined, ...SIGN_STATUSES])
    await listSigns(database, { projectId }, { ...PAGE, dwalletId: undefined, status });
  await listLedgerEntries(database, projectId, PAGE);
  await listDWallets(database, { projectId }, PAGE);
  await listEncryptionKeys(database, { projectId }, PAGE);
  const all = { projectId: undefined, actor: undefined, action: undefined };
  const ever = { startTime: undefined, endTime: undefined };
  const longAgo = { startTime: undefined, endTime: new Date(0) };
  const action = "api_key.create";
  for (const filter of [{}, { projectId }, { actor: "admin" }, { action }, { projectId, action }])
    for (const time of [ever, longAgo])
      await listAuditEvents(database, [NETWORK], { ...PAGE, ...all, ...time, ...filter });
  const any = { lane: undefined, state: undefined, kind: undefined };
  await listChainTransactions(database, NETWORK, { ...PAGE, ...any });
  await listChainTransactions(database, NETWORK, { ...PAGE, ...any, state: "aborted" });
}

/** The statements of workers and metrics. */
async function watch(database: Database, { networkEncryptionKeyId }: HotCaller): Promise<void> {
  const page = { after: NO_ROW, limit: 200 };
  const signals = createLocalSignals();
  await createPresignSession({ network: NETWORK, signals, log: silentLog }).open(database, page);
  await createDWalletSession(NETWORK, 1).open(database, page);
  await readDemand(database, NETWORK);
  await readWarmBuckets(database, NETWORK, [], async () => networkEncryptionKeyId);
  await readDatabaseFigures(database, NETWORK);
  await readUnsealedAgeMs(database);
  await sealEvents(database, undefined);
  await sweepKeys(database, 100);
  await emptyRequests(database, 30, 100);
  await emptyTransactions(database, 30, 100);
  await deleteLapsedReservations(database, 30, 100);
}
