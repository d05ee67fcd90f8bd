/** A project that makes the service read from a rate-limited fullnode, beside a project that signs. */
import { randomBytes } from "node:crypto";
import { toBase58 } from "@mysten/sui/utils";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Localnet, startLocalnet } from "../../../../src/localnet/localnet.ts";
import { takeDeposits } from "../../../../src/service/app/take-deposits.ts";
import { declareDeposit } from "../../../../src/service/billing/deposits/declare-deposit.ts";
import type { Deposits } from "../../../../src/service/billing/deposits/deposits.ts";
import { createCallerReads } from "../../../../src/service/chain/fullnodes/caller-reads.ts";
import { inBackground } from "../../../../src/service/chain/fullnodes/network.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";
import { reserve } from "../../../../src/service/signing/reserve.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { onboardUser } from "../../../sim/onboard-user.ts";
import { createSimMpc } from "../../../sim/sim-mpc.ts";
import { type ChainService, startChainService } from "../../../support/chain/chain-service.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { type ObservedDatabase, observeDatabase } from "../../../support/database/observe-database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  layoutOfSignMessage,
  projectWith,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const READS_PER_SECOND = 5;
/** The burst of the budget. Its clock stands still, so the budget is never refilled. */
const BUDGET = 2 * READS_PER_SECOND;

let database: ObservedDatabase;
let localnet: Localnet;
let service: ChainService;
let deposits: Deposits;
/** Answers a read of a transaction instead of the fullnode; undefined passes the read on. */
let answerRead: () => Promise<Response> | undefined = () => undefined;
let transactionReads = 0;

beforeEach(async () => {
  transactionReads = 0;
  answerRead = () => undefined;
  [database, localnet] = await Promise.all([
    openTestDatabase().then((opened) => observeDatabase(opened)),
    startLocalnet({ mpc: createSimMpc() }),
  ]);
  service = await startChainService(database, localnet, {
    presignLowWaterCount: 1,
    fetch(input, init) {
      const url = input instanceof Request ? input.url : String(input);
      if (!url.endsWith("/GetTransaction")) return fetch(input, init);
      transactionReads++;
      return answerRead() ?? fetch(input, init);
    },
  });
  const { network } = service;
  const taken = await takeDeposits({
    usersMaxCount: 10,
    database,
    network: inBackground(network),
    callerReads: createCallerReads({
      network: "localnet",
      limits: { projectPerSecond: READS_PER_SECOND, totalPerSecond: 1_000 },
      coordination: createLocalCoordination(() => 0),
      backOffs: network.backOffs,
    }),
    config: loadConfig({ BILLING_USD_PRICES: "SUI=1" }).networks[0].deposits,
    signals: service.signals,
    log: silentLog,
  });
  deposits = taken.deposits!;
}, DATABASE_TIMEOUT_MS);
afterEach(async () => {
  await service.stop();
  await localnet.close();
  await database.close();
}, DATABASE_TIMEOUT_MS);

/** Declares transactions that do not exist, all at once. Returns the number of refusals by reason. */
async function declareMadeUp(projectId: string, count: number): Promise<Record<string, number>> {
  const reasons: Record<string, number> = {};
  const declare = async () => {
    const digest = toBase58(new Uint8Array(randomBytes(32)));
    const error = await declareDeposit(deposits, { projectId, origin: TEST_ORIGIN }, digest).then(
      () => undefined,
      (cause: unknown) => cause,
    );
    const reason = error instanceof ServiceError ? error.reason : String(error);
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  };
  await Promise.all(Array.from({ length: count }, declare));
  return reasons;
}

/** Creates a dWallet and signs with it. Resolves when the signature is verified. */
async function signOnce(): Promise<void> {
  const { network, reader, signals, presigns } = service;
  const caller = { projectId: await projectWith(database, 10n), network: "localnet", origin: TEST_ORIGIN };
  const deps = {
    database,
    network,
    reader,
    signals,
    presigns,
    readerFor: () => reader,
    dkgsPerDay: 10,
    usersMaxCount: 10,
    dkgPriceMicroUsd: 0n,
    importPriceMicroUsd: 0n,
    paysImports: async () => true,
    refundsPerDay: 0,
    prices: flatPrices(10n),
    reservationTtlMs: 600_000,
    openMaxCount: 1,
    checkHalf: checkHalfInline,
  };
  const { dwalletId } = await onboardUser(caller, (attempt) =>
    database.retrying((db) => attempt({ ...deps, database: db })),
  );
  const input = { dwalletId, triple: TEST_TRIPLE, message: Uint8Array.of(1), idempotency: undefined };
  const time = { timeoutMs: 20_000, signal: new AbortController().signal };
  const { id } = await reserve(deps, caller, input, time);
  await submit(deps, caller, { signRequestId: id, userSignMessage: layoutOfSignMessage() });
  await database.until(async (db) => {
    const row = await readSignRequest(db, { id });
    if (row?.status === "failed") throw new Error("the signature failed");
    return row?.status === "completed";
  });
}

describe("made-up deposits", { timeout: 120_000 }, () => {
  it("use up the reads of their project, and leave the fullnode's limit to signatures", async () => {
    const hostile = await projectWith(database, 0n);
    // A fullnode that refuses everything after too many reads.
    answerRead = () => {
      if (transactionReads > 30) localnet.faults.set({ rateLimit: 1 });
      return undefined;
    };
    const signing = signOnce();
    const reasons: Record<string, number> = {};
    for (let wave = 0; wave < 4; wave++) {
      for (const [reason, count] of Object.entries(await declareMadeUp(hostile, 20)))
        reasons[reason] = (reasons[reason] ?? 0) + count;
    }
    await signing;
    expect(reasons).toEqual({ DEPOSIT_NOT_FOUND: BUDGET, CHAIN_READS_EXHAUSTED: 80 - BUDGET });
    expect(transactionReads).toBe(BUDGET);
  });

  it("do not delay the submitter or the settler when the fullnode refuses them", async () => {
    const hostile = await projectWith(database, 0n);
    answerRead = async () => new Response(null, { status: 429 });
    const declaring = declareMadeUp(hostile, 50);
    await declareMadeUp(await projectWith(database, 0n), 1);
    await signOnce();
    let isHeldBack = true;
    const run = async () => {
      isHeldBack = false;
    };
    await service.network.backOffs.work.run(run, AbortSignal.abort()).catch(() => undefined);
    expect(isHeldBack).toBe(false);
    expect(transactionReads).toBeGreaterThan(0);
    expect(Object.keys(await declaring).sort()).toEqual(["CHAIN_READS_EXHAUSTED", "CHAIN_UNAVAILABLE"]);
  });

  it("are not looked up again at once", async () => {
    const projectId = await projectWith(database, 0n);
    const digest = toBase58(new Uint8Array(randomBytes(32)));
    const declare = () => declareDeposit(deposits, { projectId, origin: TEST_ORIGIN }, digest);
    for (let count = 0; count < 10; count++)
      await expect(declare()).rejects.toMatchObject({ reason: "DEPOSIT_NOT_FOUND" });
    expect(transactionReads).toBeLessThan(10);
  });
});
