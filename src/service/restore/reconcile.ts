import type { Deposits } from "../billing/deposits/deposits.ts";
import { scanEveryAddress } from "../billing/deposits/scan-address.ts";
import { watchEveryProject } from "../billing/deposits/watch-deposits.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import { retryRead } from "../chain/fullnodes/retry-read.ts";
import { OPERATION_NAMES, type OperationKind, type OperationName } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { createTransactionHistory, findLostTransactions } from "../chain/restore/lost-transactions.ts";
import { adoptOperations, replayTransaction, type Unrecoverable } from "../chain/restore/replay.ts";
import { markForeignUse } from "../chain/submit/lane-table.ts";
import { resetLanes } from "../chain/submit/prepare-lanes.ts";
import { readKeptHalves } from "../chain/treasury/read-halves.ts";
import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import {
  createAcceptanceRebuilder,
  createDWalletRebuilder,
  createKeyRebuilder,
} from "./rebuild-onboarding.ts";
import { createShareAcceptanceRebuilder, createShareRebuilder } from "./rebuild-shares.ts";
import { createSignRebuilder } from "./rebuild-signs.ts";
import { createSweepRebuilder } from "./rebuild-sweeps.ts";
import { adoptHeldPresigns, burnSpentPresigns, createPresignRebuilder } from "./restore-presigns.ts";
import { findUnknownHalves } from "./unknown-halves.ts";

/**
 * Reconciles an older copy of the database with the chain before anything is sent. Records every later transaction with
 * its dWallets, signatures and presigns, and settles queued operations that were already sent. Nothing else may use the
 * database or the hot wallet meanwhile. A repeated call has no effect.
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  const { database, network, reader, kinds, deposits, log } = options;
  if (deposits) await watchEveryProject(database, deposits);
  const history = createTransactionHistory(network);
  const lost = await findLostTransactions({ db: database, network, reader, history });
  // Nothing may be sent before everything is recorded, even by a process that starts after this one has died.
  for (const { digest } of lost.slice(-1))
    for (const laneId of network.treasury.operatorCapIds) await markForeignUse(database, { laneId, digest });
  const ownAddresses = [network.senderAddress, network.gasOwnerAddress];
  if (!deposits && lost.some(({ sender }) => !ownAddresses.includes(sender)))
    throw new Error(
      "BILLING_DEPOSIT_MASTER_SEED_HEX: coins were swept since the copy was made; set the seed",
    );
  const sweeps = deposits && createSweepRebuilder({ deposits, reader, ownAddresses });
  // Later deposits may have paid for later signatures.
  if (sweeps) for (const transaction of lost) await sweeps.putBackDeposits(database, transaction);
  const creditedCount = deposits ? await scanEveryAddress(deposits, AbortSignal.timeout(PRICES_MS)) : 0;
  const { prices } = options.config;
  const rebuilders = [
    createKeyRebuilder(network.name),
    createDWalletRebuilder(network.name, prices),
    createAcceptanceRebuilder(network.name, reader),
    createShareRebuilder(),
    createShareAcceptanceRebuilder(network.name),
    createPresignRebuilder(network.name),
    createSignRebuilder({ network: network.name, prices }),
    ...(sweeps ? [sweeps] : []),
  ];
  const counts = {
    register: 0,
    dkg: 0,
    accept: 0,
    presign: 0,
    sign: 0,
    sweep: 0,
    consent: 0,
    share: 0,
    accept_share: 0,
    future_sign: 0,
    partial_sign: 0,
  };
  const unrecoverable: Unrecoverable[] = [];
  for (const transaction of lost) {
    const replayed = await replayTransaction({ database, network, kinds, rebuilders }, transaction);
    for (const name of OPERATION_NAMES) counts[name] += replayed.counts[name] ?? 0;
    unrecoverable.push(...replayed.unrecoverable);
  }
  log.info({ transactionCount: lost.length, ...counts }, "recorded unknown transactions");
  const adoptedCount = await adoptOperations({ database, network: network.name, kinds, log });
  const burntCount = await burnSpentPresigns({ database, network: network.name, reader, log });
  const treasury = createTreasuryReader(network);
  const heldCount = await adoptHeldPresigns({ database, network: network.name, reader, treasury, log });
  const treasuryId = network.treasuryRef.objectId;
  const { epoch } = await reader.epoch();
  const halves = await readKeptHalves(network.client, { treasuryId, epoch }, retryRead(network));
  unrecoverable.push(...(await findUnknownHalves(database, network.name, halves)));
  await resetLanes({ database, network, reader });
  return {
    transactionCount: lost.length,
    counts,
    creditedCount,
    adoptedCount,
    burntCount,
    heldCount,
    unrecoverable,
  };
}

export interface ReconcileOptions {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  readonly kinds: readonly OperationKind[];
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  readonly config: Pick<NetworkConfig, "prices">;
  readonly log: Log;
}

/** The result of a reconciliation. */
export interface Reconciliation {
  /** The number of transactions that the database did not know. */
  readonly transactionCount: number;
  /** The rows that these transactions restored or updated, by kind of operation. */
  readonly counts: Readonly<Record<OperationName, number>>;
  /** The number of queued operations that were already sent. */
  readonly adoptedCount: number;
  /** The number of deposits that were found and credited. */
  readonly creditedCount: number;
  /** The number of used presigns that were removed from the pool. */
  readonly burntCount: number;
  /** The number of presigns of another database that were added to the pool. */
  readonly heldCount: number;
  readonly unrecoverable: readonly Unrecoverable[];
}

/** The time limit for the price feed. */
const PRICES_MS = 15_000;
