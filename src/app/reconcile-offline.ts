import sql from "sql-template-tag";
import { createDepositSigner } from "../billing/sweeps/sweep-signer.ts";
import { checkChain } from "../chain/check-chain.ts";
import { connectNetwork } from "../chain/network.ts";
import { createNetworkReader } from "../chain/reader.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createLocalSignals } from "../coordination/local-signals.ts";
import { systemClock } from "../lifecycle/clock.ts";
import type { Lifecycle } from "../lifecycle/lifecycle.ts";
import { type Reconciliation, reconcile } from "../restore/reconcile.ts";
import { type ReissuedKey, reissueKeys } from "../restore/reissue-keys.ts";
import { text } from "../store/columns.ts";
import type { Database } from "../store/database.ts";
import { migrate } from "../store/migrate.ts";
import { openDatabase } from "../store/open-database.ts";
import { readRows } from "../store/statements.ts";
import type { Log } from "../telemetry/log.ts";
import { openChainAccess } from "./chain-access.ts";
import { operationKinds } from "./operation-kinds.ts";
import { takeDeposits } from "./take-deposits.ts";

/**
 * Reconciles the configured database with these networks, one after another, as `tss serve --after-restore` does before
 * it serves. Throws if a replica holds a lane.
 */
export async function reconcileOffline(
  config: Config,
  networks: readonly NetworkConfig[],
  { lifecycle, log, keepKey }: ReconcileOfflineOptions,
): Promise<NetworkReconciliation[]> {
  const databaseUrl = config.databaseUrl?.reveal();
  const database = await lifecycle.start(
    "database",
    () => openDatabase({ databaseUrl, dataDirectory: config.dataDirectory, log }),
    (opened) => opened.close(),
  );
  await migrate(database, log, { lockWaitMs: config.database.migrationLockWaitMs });
  const [leased] = await readRows(
    database,
    sql`SELECT id FROM lane WHERE leased_until > now() ORDER BY id LIMIT 1`,
    { id: text },
  );
  if (leased !== undefined)
    throw new Error(`a replica holds lane ${leased.id}; stop every replica, and retry after ten seconds`);
  const reports: NetworkReconciliation[] = [];
  for (const network of networks) {
    const report = await reconcileNetwork(network, config, { database, lifecycle, log });
    const reissuedKeyCount = keepKey ? await reissueKeys(database, network.name, keepKey) : 0;
    reports.push({ network: network.name, ...report, reissuedKeyCount });
  }
  return reports;
}

async function reconcileNetwork(
  own: NetworkConfig,
  { dataDirectory }: Config,
  { database, lifecycle, log }: { readonly database: Database } & ReconcileOfflineOptions,
): Promise<Reconciliation> {
  const access = await openChainAccess(own, { dataDirectory, lifecycle, log });
  const network = await connectNetwork({ ...access, clock: systemClock });
  await checkChain(database, network, access);
  const reader = createNetworkReader(network);
  await prepareLanes({ database, network, reader, afterRestore: true, log });
  const { deposits } = await takeDeposits({
    ...{ database, network, config: own.deposits, log },
    // No caller is involved.
    callerReads: () => ({ backOff: network.backOffs.callers }),
  });
  const depositSigner = createDepositSigner(deposits?.masterSeed, network.name);
  const signals = createLocalSignals();
  const kinds = operationKinds({ network, reader, signals, config: own, depositSigner, log });
  return reconcile({ database, network, reader, kinds, deposits, config: own, log });
}

export interface ReconcileOfflineOptions {
  readonly lifecycle: Lifecycle;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  /** Receives the new keys if every key is re-issued: see {@link reissueKeys}. */
  readonly keepKey?: ((key: ReissuedKey) => void) | undefined;
}

/** The result for a network, with the number of its re-issued keys. */
export interface NetworkReconciliation extends Reconciliation {
  readonly network: string;
  readonly reissuedKeyCount: number;
}
