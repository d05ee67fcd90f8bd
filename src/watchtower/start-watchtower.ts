import { createErrorMapping } from "../service/platform/errors/error-mapping.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../service/platform/lifecycle/background-loop.ts";
import { type Clock, systemClock } from "../service/platform/lifecycle/clock.ts";
import type { Lifecycle } from "../service/platform/lifecycle/lifecycle.ts";
import { listening } from "../service/platform/lifecycle/listening.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import { createMetrics, type Metrics } from "../service/platform/telemetry/metrics.ts";
import type { PlainRoute } from "../transport/http/plain-routes.ts";
import { startServer } from "../transport/start-server.ts";
import type { FullnodeEvents } from "./fullnode-events.ts";
import { createHealth, type Health } from "./health.ts";
import { type WatchedPackages, watchedTypes } from "./sightings.ts";
import type { Teller } from "./tell.ts";
import { readState, type TowerState } from "./tower-state.ts";
import { createWatch, type RoundResult, type Watch } from "./watch-round.ts";
import { type DWalletList, ServiceListError } from "./watched-dwallets.ts";

/**
 * Starts a watchtower. Without a state it begins after the newest checkpoint. Returns its URL if it serves metrics.
 */
export async function startWatchtower(options: WatchtowerOptions): Promise<string | undefined> {
  const {
    fullnodes,
    dwallets,
    log,
    lifecycle,
    clock = systemClock,
    intervalMs = INTERVAL_MS,
    graceMs = GRACE_MS,
  } = options;
  await dwallets.refresh().catch((cause: unknown) => {
    // The service must not be able to keep the dWallets of the file unwatched.
    if (!(cause instanceof ServiceListError) || dwallets.count() === 0) throw cause;
    log.warn({ cause }, "the watch begins without the service's list");
  });
  const state = (await readState(options.stateFile)) ?? (await newState(fullnodes, options.from));
  if (options.chainId !== undefined && state.chainId !== options.chainId)
    throw new Error("the state or the first fullnode is of another chain");
  const types = watchedTypes(options.packages);
  const watch = createWatch({
    fullnodes,
    types,
    state,
    graceMs,
    logs: options.logs,
    stateFile: options.stateFile,
    keepsAlerts: options.teller !== undefined,
    isWatched: (id) => dwallets.has(id),
    onTold(alerts) {
      for (const { id, kind, data } of alerts) {
        log.error({ alert: id, kind, ...data }, "the chain has something that the user's log lacks");
        meters.alerts.inc({ kind });
      }
    },
    nowMs: () => clock.wallMs(),
  });
  const metrics = createMetrics();
  lifecycle.onStop("metrics", () => metrics.close());
  const meters = metersOf(metrics, watch, dwallets);
  const health = createHealth({ expectsProgress: options.expectsProgress ?? false, clock });
  const loops = [
    roundLoop({ watch, meters, health, log, clock, intervalMs, onRound: options.onRound }),
    createBackgroundLoop({
      name: "dWallets",
      intervalMs: REFRESH_MS,
      clock,
      log,
      async pass() {
        await dwallets.refresh();
        return false;
      },
    }),
  ];
  const { teller } = options;
  if (teller !== undefined) loops.push(tellLoop(watch, teller, { clock, log, intervalMs }));
  for (const loop of loops) {
    lifecycle.onStop("a loop", () => loop.stop());
    loop.start();
  }
  log.info(
    { dwallets: dwallets.count(), next: state.next, fullnodes: fullnodes.map(({ host }) => host) },
    "watching",
  );
  if (options.port === undefined) return undefined;
  const { host, port } = options.port;
  const server = {
    host,
    port,
    services: [],
    errors: createErrorMapping(({ level, cause }) => {
      if (level === "error") log.error({ cause }, "a call failed");
    }),
    routes: routesOf(metrics, () => health.isHealthy()),
  };
  const drain = { delayMs: 0, timeoutMs: 1_000 };
  const begin = () => listening("--metrics-port", port, () => startServer(server));
  return (await lifecycle.start("port", begin, (running) => running.drain(drain), 5_000)).url;
}

/** Options of {@link startWatchtower}. */
export interface WatchtowerOptions {
  /** At least one. With several, an event that one of them hides is noticed. */
  readonly fullnodes: readonly FullnodeEvents[];
  readonly packages: WatchedPackages;
  readonly dwallets: DWalletList;
  /** The files of the user's log; none explains nothing. */
  readonly logs: readonly string[];
  readonly stateFile: string;
  /** The digest of the chain's first checkpoint; undefined accepts the chain of the first fullnode. */
  readonly chainId?: string | undefined;
  /** Whether the chain always makes checkpoints, as a public one does. Default false. */
  readonly expectsProgress?: boolean | undefined;
  /** The checkpoint to begin with if there is no state. Default: after the newest. */
  readonly from?: bigint | undefined;
  /** Undefined: alerts are in the log and in the metrics alone. */
  readonly teller?: Teller | undefined;
  readonly port?: { readonly host: string; readonly port: number } | undefined;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  readonly clock?: Clock;
  /** Default 2 s. */
  readonly intervalMs?: number | undefined;
  /** How long a sighting waits for its line in the log. Default 60 s. */
  readonly graceMs?: number | undefined;
  /** Called after each round. */
  readonly onRound?: ((result: RoundResult) => void) | undefined;
}

const INTERVAL_MS = 2_000;
const GRACE_MS = 60_000;
const REFRESH_MS = 60_000;
const ROUND_TIMEOUT_MS = 60_000;

async function newState(fullnodes: readonly FullnodeEvents[], from: bigint | undefined): Promise<TowerState> {
  const signal = AbortSignal.timeout(ROUND_TIMEOUT_MS);
  const positions = await Promise.all(fullnodes.map((fullnode) => fullnode.position(signal)));
  const { chainId } = positions[0]!;
  // A fullnode that claims too much must not make the watch skip what the others have.
  const [latest = 0n] = positions.map((position) => position.latest).toSorted((a, b) => (a < b ? -1 : 1));
  const next = String(from ?? latest + 1n);
  return { version: 1, chainId, next, logs: {}, expected: [], pending: [], untold: [] };
}

function roundLoop(parts: RoundParts): BackgroundLoop {
  const { watch, meters, health, log, clock, intervalMs, onRound } = parts;
  return createBackgroundLoop({
    name: "rounds",
    intervalMs,
    clock,
    log,
    async pass(stopping) {
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(ROUND_TIMEOUT_MS)]);
      const result = await watch.round(signal);
      const { droppedCount, lag, seenCount, disagreedCount, hasMore } = result;
      meters.seen.inc(seenCount);
      meters.disagreements.inc(disagreedCount);
      meters.dropped.inc(droppedCount);
      meters.lag.set(Number(lag));
      health.note(result);
      onRound?.(result);
      return hasMore;
    },
  });
}

interface RoundParts {
  readonly watch: Watch;
  readonly meters: ReturnType<typeof metersOf>;
  readonly health: Health;
  readonly log: Log;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly onRound: WatchtowerOptions["onRound"];
}

/** Sends the oldest alert first. After a failure it waits, longer each time. */
function tellLoop(
  watch: Watch,
  teller: Teller,
  { clock, log, intervalMs }: { readonly clock: Clock; readonly log: Log; readonly intervalMs: number },
): BackgroundLoop {
  let failedCount = 0;
  return createBackgroundLoop({
    name: "alerts",
    intervalMs,
    clock,
    log,
    async pass() {
      const [alert] = watch.untold();
      if (alert === undefined) return false;
      if (await teller.tell(alert)) {
        failedCount = 0;
        await watch.forget(alert.id);
        return true;
      }
      failedCount++;
      return { restMs: Math.min(intervalMs * 2 ** Math.min(failedCount, 16), RETRY_MAX_MS) };
    },
  });
}

const RETRY_MAX_MS = 300_000;

function metersOf(metrics: Metrics, watch: Watch, dwallets: DWalletList) {
  metrics.gauge("watchtower_dwallets", "Watched dWallets.", [], (gauge) => gauge.set(dwallets.count()));
  metrics.gauge("watchtower_untold_alerts", "Alerts that the webhook has not accepted.", [], (gauge) =>
    gauge.set(watch.untold().length),
  );
  return {
    alerts: metrics.counter("watchtower_alerts_total", "Alerts by kind.", ["kind"]),
    seen: metrics.counter("watchtower_sightings_total", "Events of watched dWallets."),
    disagreements: metrics.counter(
      "watchtower_disagreements_total",
      "Events that not every fullnode has shown, of any dWallet.",
    ),
    dropped: metrics.counter(
      "watchtower_dropped_alerts_total",
      "Alerts that were not sent because too many waited.",
    ),
    lag: metrics.gauge("watchtower_lag_checkpoints", "Checkpoints that are not read yet."),
  };
}

/** `GET /v1/watchtower/health` for a probe, and `GET /metrics`. */
function routesOf(metrics: Metrics, isHealthy: () => boolean): PlainRoute[] {
  return [
    {
      path: "/v1/watchtower/health",
      handle: () => ({
        status: isHealthy() ? 200 : 503,
        headers: { "content-type": "application/json", "cache-control": "no-store" },
        body: JSON.stringify({ status: isHealthy() ? "ok" : "behind" }),
      }),
    },
    {
      path: "/metrics",
      async handle({ headers }) {
        const { contentType, body } = await metrics.render(headers.accept);
        return { status: 200, headers: { "content-type": contentType, "cache-control": "no-store" }, body };
      },
    },
  ];
}
