import { curveOfNumber, signatureAlgorithmOfNumbers } from "../../../protocol/algorithms.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";
import type { DatabaseFigures, LaneFigure, PresignFigure } from "./read-database-figures.ts";

/** Registers the gauges. Presigns of all network encryption keys except the newest are counted together. */
export function createDatabaseGauges(
  metrics: MetricsMaker,
  { laneIds, newestNetworkEncryptionKeyId }: FigureNames,
): DatabaseGauges {
  const outbox = metrics.gauge("outbox_operations", "Operations that are not on the chain yet.", [
    "kind",
    "state",
  ]);
  const outboxAge = metrics.gauge(
    "outbox_oldest_age_seconds",
    "Age of the oldest operation that is not on the chain yet; 0 without one.",
    ["kind"],
  );
  const signs = metrics.gauge(
    "sign_requests",
    "Sign requests that are waiting for the client or the network.",
    ["status"],
  );
  const signAge = metrics.gauge(
    "sign_oldest_age_seconds",
    "Time that the oldest sign request has been in this state; 0 without one.",
    ["status"],
  );
  const presigns = metrics.gauge(
    "presigns",
    "Usable presigns: ready, pending (requested), held (by an open reservation).",
    ["curve", "algorithm", "key", "state"],
  );
  const leased = metrics.gauge("lane_leased", "1 while a replica holds the lane's lease.", ["lane"]);
  const foreign = metrics.gauge(
    "lane_foreign_use",
    "1 after a transaction that is not in this database has used the lane; the service then submits nothing.",
    ["lane"],
  );
  const unresolved = metrics.gauge(
    "lane_unresolved_age_seconds",
    "Age of the lane's unresolved transaction; 0 without one.",
    ["lane"],
  );

  return (figures, warm) => {
    outbox.reset();
    for (const kind of OPERATION_KINDS) {
      for (const state of ["queued", "sent"]) outbox.set({ kind, state }, 0);
      outboxAge.set({ kind }, 0);
    }
    for (const { kind, state, count } of figures.outbox) outbox.set({ kind, state }, count);
    for (const [kind, seconds] of oldestByKind(figures)) outboxAge.set({ kind }, seconds);

    for (const status of ["prepared", "submitted"]) {
      const figure = figures.signs.find((one) => one.status === status);
      signs.set({ status }, figure?.count ?? 0);
      signAge.set({ status }, figure?.oldestSeconds ?? 0);
    }

    presigns.reset();
    const none = warm.flatMap((bucket) => PRESIGN_STATES.map((state) => ({ ...bucket, state, count: 0 })));
    for (const figure of [...none, ...figures.presigns]) {
      const key = isNewest(figure) ? "newest" : "older";
      presigns.inc({ ...namesOf(figure), key, state: figure.state }, figure.count);
    }

    for (const gauge of [leased, foreign, unresolved]) gauge.reset();
    for (const figure of figures.lanes) {
      const lane = laneLabel(figure);
      leased.inc({ lane }, Number(figure.isLeased));
      foreign.inc({ lane }, Number(figure.isForeign));
      unresolved.inc({ lane }, figure.unresolvedSeconds ?? 0);
    }
  };

  function isNewest({ networkEncryptionKeyId }: Bucket): boolean {
    const newest = newestNetworkEncryptionKeyId();
    return newest === undefined || newest === networkEncryptionKeyId;
  }

  function laneLabel({ id }: LaneFigure): string {
    const place = laneIds.indexOf(id);
    return place === -1 ? "other" : String(place);
  }
}

/** The source of the figures' labels. */
export interface FigureNames {
  /** The configured lanes. A lane's label is its index among them, or `other` for a former lane. */
  readonly laneIds: readonly string[];
  /** Undefined before the first reading of the chain. Every key then counts as the newest. */
  newestNetworkEncryptionKeyId(): string | undefined;
}

/** Sets the gauges to the figures, and removes stale labels. Shows warm buckets even without presigns. */
export type DatabaseGauges = (figures: DatabaseFigures, warm: readonly Bucket[]) => void;

type Bucket = Omit<PresignFigure, "state" | "count">;

const OPERATION_KINDS = ["register", "dkg", "accept", "presign", "sign"];
const PRESIGN_STATES = ["ready", "pending", "held"] as const;

function oldestByKind({ outbox }: DatabaseFigures): Map<string, number> {
  const oldest = new Map<string, number>();
  for (const { kind, oldestSeconds } of outbox)
    oldest.set(kind, Math.max(oldest.get(kind) ?? 0, oldestSeconds));
  return oldest;
}

function namesOf({ curve, signatureAlgorithm }: Bucket): { curve: string; algorithm: string } {
  return {
    curve: curveOfNumber(curve) ?? String(curve),
    algorithm: signatureAlgorithmOfNumbers(curve, signatureAlgorithm) ?? String(signatureAlgorithm),
  };
}
