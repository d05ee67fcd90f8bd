import type { Deposits } from "../billing/deposits/deposits.ts";
import type { DepositSigner } from "../billing/sweeps/sweep-signer.ts";
import type { CallerReads } from "../chain/fullnodes/caller-reads.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { NetworkConfig } from "../config/networks.ts";
import type { ServiceMetrics } from "../operator/metrics/service-metrics.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import type { Tracer } from "../platform/telemetry/tracer.ts";
import type { PresignQueue } from "../presigns/presign-queue.ts";
import type { Verifier } from "../signing/verify/verifier.ts";

/**
 * One network that this process serves. `openNetwork` makes all parts once, from the network's configuration, and
 * passes them as one value. Networks share nothing but the `Service`.
 */
export interface Network {
  readonly config: NetworkConfig;
  readonly database: Database;
  /** The connection to its fullnodes, the Treasury's ids, and the keys that act on it. */
  readonly chain: ChainNetwork;
  readonly reader: NetworkReader;
  readonly signals: Signals;
  /** The presigns for which callers of this process wait. */
  readonly presigns: PresignQueue;
  readonly verifier: Verifier;
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  readonly depositSigner: DepositSigner;
  /** Default: counts nothing. */
  readonly observe?: ServiceMetrics;
  /** Default: none. */
  readonly tracer?: Tracer;
  readonly log: Log;
}

/** A network with what serves its callers. */
export interface OpenNetwork extends Network {
  /** The connection for reads that must not delay the work on the chain, and its reader. */
  readonly background: { readonly chain: ChainNetwork; readonly reader: NetworkReader };
  /** Bounds what callers make the service read from a fullnode. */
  readonly callerReads: CallerReads;
}
