import { createDepositSigner } from "../billing/sweeps/sweep-signer.ts";
import { checkChain } from "../chain/fullnodes/check-chain.ts";
import { connectNetwork, type NetworkAccess } from "../chain/fullnodes/network.ts";
import { createNetworkReader } from "../chain/reader.ts";
import { prepareLanes } from "../chain/submit/prepare-lanes.ts";
import type { Config } from "../config/config.ts";
import type { NetworkConfig } from "../config/networks.ts";
import { createLocalSignals } from "../platform/coordination/local-coordination.ts";
import { systemClock } from "../platform/lifecycle/clock.ts";
import type { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import type { Database } from "../platform/store/database.ts";
import { migrate } from "../platform/store/migrate.ts";
import { openDatabase } from "../platform/store/open-database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { type Reconciliation, reconcile } from "../restore/reconcile.ts";
import { type ReissueOptions, reissueKeys } from "../restore/reissue-keys.ts";
import { openChainAccess } from "./chain-access.ts";
import { startMark } from "./service.ts";
import { takeDeposits } from "./take-deposits.ts";
import { operationKinds } from "./work.ts";

/**
 * Reconciles the configured database with these networks, one after another, as `tss serve --after-restore` does before
 * it serves. Yields the result of each network when it ends, and continues after a failure. Throws if another
 * process uses the database.
 */
export async function* reconcileOffline(
  config: Config,
  networks: readonly NetworkConfig[],
  options: ReconcileOfflineOptions,
): AsyncGenerator<ReconciliationResult> {
  const { lifecycle, log, reissue } = options;
  if (config.processType === "api")
    throw new Error(
      "reconcile needs the keys of a process that acts on the chain: PROCESS_TYPE=worker or all",
    );
  const databaseUrl = config.databaseUrl?.reveal();
  const database = await lifecycle.start(
    "database",
    () =>
      openDatabase({ databaseUrl, dataDirectory: config.dataDirectory, log, pooler: config.database.pooler }),
    (opened) => opened.close(),
  );
  await migrate(database, log, { lockWaitMs: config.database.migrationLockWaitMs });
  const mark = await startMark(lifecycle, {
    database,
    kind: "reconcile",
    reconciles: networks.map(({ name }) => name),
    clock: systemClock,
    log,
  });
  const guarded = mark.guard(database);
  for (const own of networks) {
    const { name: network } = own;
    let report: NetworkReconciliation | undefined;
    let failure: unknown;
    try {
      report = {
        network,
        ...(await reconcileNetwork(own, config, { ...options, database: guarded })),
        reissuedKeyCount: 0,
      };
      if (reissue) report = { ...report, reissuedKeyCount: await reissueKeys(guarded, network, reissue) };
    } catch (error) {
      failure = error;
    }
    yield { network, report, failure };
  }
}

async function reconcileNetwork(
  own: NetworkConfig,
  { dataDirectory }: Config,
  { database, lifecycle, log, openAccess }: { readonly database: Database } & ReconcileOfflineOptions,
): Promise<Reconciliation> {
  const access = await (openAccess?.(own) ?? openChainAccess(own, { dataDirectory, lifecycle, log }));
  const network = await connectNetwork({ ...access, clock: systemClock });
  await checkChain(database, network, access);
  const reader = createNetworkReader(network);
  await prepareLanes({ database, network, reader, afterRestore: true, log });
  const signals = createLocalSignals();
  const { deposits } = await takeDeposits({
    database,
    network,
    config: own.deposits,
    usersMaxCount: own.usersMaxCount,
    signals,
    log,
    // No caller is involved.
    callerReads: () => ({ backOff: network.backOffs.callers }),
  });
  const depositSigner = createDepositSigner(deposits?.masterSeed, network.name);
  const kinds = operationKinds({ config: own, chain: network, reader, signals, depositSigner, log });
  return reconcile({ database, network, reader, kinds, deposits, config: own, log });
}

export interface ReconcileOfflineOptions {
  readonly lifecycle: Lifecycle;
  readonly log: Log;
  /** Set if every key is re-issued: see {@link reissueKeys}. */
  readonly reissue?: ReissueOptions | undefined;
  /** Only for tests: opens a network's access. No setting reaches this option. Default: the configured access. */
  readonly openAccess?: (network: NetworkConfig) => Promise<NetworkAccess>;
}

/** The end of a network's reconciliation. */
export interface ReconciliationResult {
  readonly network: string;
  /** Undefined if it failed before its end. Present if only re-issuing the keys failed. */
  readonly report: NetworkReconciliation | undefined;
  /** The thrown value; undefined if nothing failed. */
  readonly failure: unknown;
}

/** The result for a network, with the number of its re-issued keys. */
export interface NetworkReconciliation extends Reconciliation {
  readonly network: string;
  readonly reissuedKeyCount: number;
}
