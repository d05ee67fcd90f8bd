import sql, { raw } from "sql-template-tag";
import { readUnsealedAgeMs } from "../../audit/seal-events.ts";
import { storeVerification } from "../../ledger/last-verification.ts";
import { DIFFERENCE_KINDS, verifyLedger } from "../../ledger/verify-ledger.ts";
import { createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { NamedLoop } from "../../platform/lifecycle/start-loops.ts";
import { boolean } from "../../platform/store/columns.ts";
import { type Database, execute, readRows } from "../../platform/store/database.ts";
import { LOCK_KEYS } from "../../platform/store/migrate.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";
import { RETAINED_KINDS, type RetainedKind } from "../../signing/loops/retention-loop.ts";
import { readOverdueSeconds } from "../../webhooks/claim-deliveries.ts";
import type { WebhookLoopDeps } from "../../webhooks/webhook-loop.ts";

/** Creates loops that read figures of what all networks share: the ledger and the audit trail. */
export function createSharedFigures(options: {
  readonly metrics: Pick<Metrics, "gauge">;
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}): NamedLoop[] {
  const { metrics, database, clock, log } = options;
  const unsealed = metrics.gauge(
    "audit_unsealed_age_seconds",
    "Age of the oldest unsealed audit event; 0 without one.",
  );
  const overdue = metrics.gauge(
    "webhook_overdue_seconds",
    "For how long no worker has attempted a due webhook delivery; 0 without one.",
  );
  // An age that was never read must not look healthy.
  unsealed.remove();
  overdue.remove();
  const loopOf = (name: string, intervalMs: number, read: () => Promise<void>): NamedLoop => ({
    name,
    loop: createBackgroundLoop({
      name,
      intervalMs,
      maxBackoffMs: intervalMs,
      clock,
      log,
      async pass() {
        await read();
        return false;
      },
    }),
  });
  return [
    loopOf("audit figures", AUDIT_INTERVAL_MS, async () =>
      unsealed.set((await readUnsealedAgeMs(database)) / 1_000),
    ),
    loopOf("webhook figures", WEBHOOK_INTERVAL_MS, async () =>
      overdue.set(await readOverdueSeconds(database)),
    ),
    loopOf("ledger figures", LEDGER_INTERVAL_MS, createLedgerGauges(options)),
  ];
}

const AUDIT_INTERVAL_MS = 15_000;
const WEBHOOK_INTERVAL_MS = 15_000;
const LEDGER_INTERVAL_MS = 3_600_000;

/**
 * Registers the gauges and returns a function that verifies the ledger, stores the result and sets them. It does
 * nothing while another replica verifies. It uses no parallel workers of the database, which stay free for callers.
 */
export function createLedgerGauges({
  database,
  metrics,
  log,
}: {
  readonly database: Database;
  readonly metrics: Pick<Metrics, "gauge">;
  readonly log: Log;
}): () => Promise<void> {
  const differences = metrics.gauge(
    "ledger_differences",
    "Differences in the last ledger verification; must be 0.",
    ["kind"],
  );
  const verifiedAt = metrics.gauge(
    "ledger_verified_timestamp_seconds",
    "Time of this replica's last ledger verification; 0 if it never verified.",
  );
  return async () => {
    const found = await database.transaction(async (db) => {
      const [lock] = await readRows(
        db,
        sql`SELECT pg_try_advisory_xact_lock(${LOCK_KEYS.ledgerVerification}) AS "isOurs"`,
        { isOurs: boolean },
      );
      if (!lock?.isOurs) return undefined;
      await execute(db, raw(`SET LOCAL statement_timeout = ${STATEMENT_TIMEOUT_MS}`));
      await execute(db, sql`SET LOCAL max_parallel_workers_per_gather = 0`);
      const differences = await verifyLedger(db);
      await storeVerification(db, differences);
      return differences;
    });
    if (found === undefined) return;
    for (const kind of DIFFERENCE_KINDS)
      differences.set({ kind }, found.filter((one) => one.kind === kind).length);
    verifiedAt.set(Date.now() / 1000);
    if (found.length > 0) {
      const some = found.slice(0, LOGGED_MAX_COUNT).map(({ kind, subject }) => `${kind} ${subject}`);
      log.error({ count: found.length, some }, "the ledger does not add up; run `tss ledger verify`");
    }
  };
}

/** A ledger that takes longer must be verified by hand, on a copy. */
const STATEMENT_TIMEOUT_MS = 300_000;
const LOGGED_MAX_COUNT = 20;

/** Registers the metrics of what all networks share, with all their labels. */
export function createSharedMetrics(metrics: Pick<Metrics, "counter">): SharedMetrics {
  const cache = metrics.counter("cache_requests_total", "Lookups in this process's caches.", [
    "cache",
    "result",
  ]);
  for (const result of ["hit", "miss"]) cache.inc({ cache: "api_key", result }, 0);

  const retained = metrics.counter(
    "retention_rows_total",
    "Old rows that were cleaned up: users' halves and stored transactions emptied, expired reservations deleted.",
    ["what"],
  );
  for (const what of RETAINED_KINDS) retained.inc({ what }, 0);

  const webhooks = metrics.counter(
    "webhook_attempts_total",
    "Requests to webhook endpoints by outcome: delivered, retried, failed (no attempt is left), or expired (another process has the delivery).",
    ["outcome"],
  );
  for (const outcome of ["delivered", "retried", "failed", "expired"]) webhooks.inc({ outcome }, 0);
  const disabled = metrics.counter(
    "webhook_endpoints_disabled_total",
    "Webhook endpoints that the service disabled: gone (410) or failing for days.",
    ["reason"],
  );
  for (const reason of ["gone", "failing"]) disabled.inc({ reason }, 0);

  return {
    onWebhook(_result, recorded) {
      const outcome = recorded?.state ?? "expired";
      webhooks.inc({ outcome: outcome === "pending" ? "retried" : outcome });
      if (recorded?.disabledFor) disabled.inc({ reason: recorded.disabledFor });
    },
    onRetained: (what, count) => retained.inc({ what }, count),
    onCache: (name, result) => cache.inc({ cache: name, result }),
  };
}

/** Counts events of the parts that all networks share. */
export interface SharedMetrics {
  /** Counts old rows that retention emptied or deleted. */
  onRetained(what: RetainedKind, count: number): void;
  /** Counts an attempt to send a webhook, and the endpoint that it disabled. */
  onWebhook: NonNullable<WebhookLoopDeps["onAttempt"]>;
  /** Counts look-ups in a cache. */
  onCache(cache: "api_key", result: "hit" | "miss"): void;
}
