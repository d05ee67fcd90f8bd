import { type TssClient, TssError } from "../client/sdk/index.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../service/platform/lifecycle/background-loop.ts";
import { type Clock, systemClock } from "../service/platform/lifecycle/clock.ts";
import type { Lifecycle } from "../service/platform/lifecycle/lifecycle.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Metrics } from "../service/platform/telemetry/metrics.ts";
import type { StoredKey } from "./store/key-store.ts";

/**
 * Creates the loop that rehearses the exit of each key on a schedule: it shows that the owner could leave the service
 * today. One key is rehearsed at a time, with a pause after each, so that the keys spread over the day. Nothing that
 * somebody could submit leaves the process: see `rehearseLeave` of the SDK. Nothing is stored, so a restart begins again.
 *
 * The service is told the time and the outcome, for the console. It is not asked for anything: its reply, and whether it
 * replies, change nothing.
 */
export function createExitDrill(options: ExitDrillOptions): BackgroundLoop {
  const {
    list,
    client,
    log,
    metrics,
    everyMs,
    isReported = true,
    clock = systemClock,
    paceMs = PACE_MS,
  } = options;
  const startedMs = clock.now();
  /** By the names of the keys that the signer has. */
  const last = new Map<string, LastDrill>();
  const total = metrics.counter("signer_exit_drill_total", "Rehearsed exits by outcome.", ["outcome"]);
  for (const outcome of OUTCOMES) total.inc({ outcome }, 0);
  metrics.gauge(
    "signer_exit_drill_oldest_seconds",
    "Since when a key was not shown to be able to leave: the longest time of all keys that have not left.",
    [],
    (gauge) => gauge.set(Math.max(0, ...activeKeys().map(({ name }) => unshownMs(name))) / 1_000),
  );

  const activeKeys = () =>
    list().filter(({ name, progress }) => progress.kind === "active" && last.get(name)?.outcome !== "left");
  const nextMs = (name: string) => last.get(name)?.nextMs ?? 0;
  const unshownMs = (name: string) => clock.now() - (last.get(name)?.shownMs ?? startedMs);

  return createBackgroundLoop({
    name: "exit drill",
    intervalMs: paceMs,
    clock,
    log,
    async pass(signal) {
      // The key that has been due for the longest, so that none waits forever if there are more than the pace allows.
      const [due] = activeKeys().toSorted((a, b) => nextMs(a.name) - nextMs(b.name));
      if (due === undefined || clock.now() < nextMs(due.name)) return false;
      const outcome = await drill(due, signal);
      if (signal.aborted) return false;
      total.inc({ outcome });
      const now = clock.now();
      const shownMs = outcome === "could_leave" ? now : last.get(due.name)?.shownMs;
      const waitMs = outcome === "unknown" ? Math.min(RETRY_MS, everyMs) : everyMs;
      last.set(due.name, { outcome, shownMs, nextMs: now + waitMs });
      if (isReported && (outcome === "could_leave" || outcome === "refused"))
        await report(due, outcome, now, signal);
      return false;
    },
  });

  /** Reports after the drill is counted, so that a service that refuses or does not reply has no say in it. */
  async function report(key: StoredKey, outcome: ReportedOutcome, nowMs: number, signal: AbortSignal) {
    const dwalletId = dwalletIdOf(key);
    const options = { signal, timeoutMs: REPORT_TIMEOUT_MS };
    try {
      await client.reportExitDrill({ dwalletId, outcome, checkedAt: new Date(nowMs) }, options);
    } catch (cause) {
      if (signal.aborted) return;
      const reason = cause instanceof TssError ? cause.reason : "INTERNAL";
      log.warn({ keyName: key.name, dwalletId, reason }, "could not report the exit drill to the service");
    }
  }

  async function drill(key: StoredKey, signal: AbortSignal): Promise<Outcome> {
    const { name, seed } = key;
    const dwalletId = dwalletIdOf(key);
    const fields = { audit: "exit-drill", keyName: name, dwalletId };
    try {
      const { checkedAt, epoch, treasuryId } = await client.rehearseLeave({ seed, dwalletId }, { signal });
      const shown = { checkedAt: checkedAt.toISOString(), epoch, treasuryId };
      log.info({ ...fields, ...shown, outcome: "could_leave" }, "the owner could leave today");
      return "could_leave";
    } catch (cause) {
      if (signal.aborted) return "unknown";
      const reason = cause instanceof TssError ? cause.reason : "INTERNAL";
      // The epoch has changed between the signing and the simulation.
      const isExpired = cause instanceof TssError && cause.metadata["abort"] === EXPIRED;
      const isUnknown = isExpired || UNKNOWN.has(reason);
      const outcome = reason === "DWALLET_LEFT" ? "left" : isUnknown ? "unknown" : "refused";
      const line = { ...fields, outcome, reason };
      if (outcome === "left") log.info(line, "the dWallet has left the service");
      else if (outcome === "unknown") log.warn(line, "the exit could not be rehearsed");
      else log.error(line, "the owner could not leave today");
      return outcome;
    }
  }
}

/** Starts the loop of {@link createExitDrill} until the lifecycle stops. */
export function startExitDrill(options: ExitDrillOptions, lifecycle: Lifecycle): void {
  const loop = createExitDrill(options);
  lifecycle.onStop("exit drill", () => loop.stop());
  loop.start();
}

/** Options of {@link createExitDrill}. */
export interface ExitDrillOptions {
  list(): readonly StoredKey[];
  readonly client: Pick<TssClient, "rehearseLeave" | "reportExitDrill">;
  readonly log: Log;
  readonly metrics: Pick<Metrics, "counter" | "gauge">;
  /** The time between two rehearsals of a key. */
  readonly everyMs: number;
  /** Whether the service is told the time and the outcome. Default true. */
  readonly isReported?: boolean | undefined;
  readonly clock?: Clock;
  /** The pause after each rehearsal. Default 5 s: 10,000 keys are done in 14 hours. */
  readonly paceMs?: number;
}

const OUTCOMES = ["could_leave", "refused", "unknown", "left"] as const;
type Outcome = (typeof OUTCOMES)[number];
type ReportedOutcome = "could_leave" | "refused";

function dwalletIdOf({ progress }: StoredKey): string {
  return progress.kind === "active" ? progress.dwallet.dwalletId : "";
}

interface LastDrill {
  readonly outcome: Outcome;
  /** When the owner was last shown to be able to leave; undefined for never. */
  readonly shownMs: number | undefined;
  readonly nextMs: number;
}

const PACE_MS = 5_000;
const RETRY_MS = 600_000;
/** The abort of `treasury::custody` for an authorization of an earlier epoch: EExpired. */
const EXPIRED = "custody:8";
/** Short, so that 10,000 keys are done in a day even if the service answers no report. */
const REPORT_TIMEOUT_MS = 2_000;
/** Reasons that say nothing about the exit: somebody did not answer. */
const UNKNOWN: ReadonlySet<string> = new Set([
  ...[
    "CHAIN_UNAVAILABLE",
    "FULLNODES_DISAGREE",
    "UNREACHABLE",
    "TIMEOUT",
    "DEADLINE_EXCEEDED",
    "UNAVAILABLE",
  ],
]);
