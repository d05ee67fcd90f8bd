import type { MixUpReport } from "../../../protocol/chain/bind-answers.ts";
import { OPERATOR_CAUSES, type OperatorCause } from "../../chain/submit/classify.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";
import type { PresignWaitOutcome } from "../../presigns/presign-queue.ts";
import type { SignObserver } from "../../signing/sign-operation.ts";

/**
 * Registers the metrics of one network's work with all their labels, so that the first event counts as an increase.
 */
export function createServiceMetrics(metrics: MetricsMaker): ServiceMetrics {
  const ended = metrics.counter(
    "sign_requests_ended_total",
    "Ended sign requests, by outcome. All except completed and reservation_expired were charged and then failed.",
    ["outcome"],
  );
  for (const outcome of OUTCOMES) ended.inc({ outcome }, 0);
  const stages = metrics.histogram(
    "sign_stage_duration_seconds",
    "Time of completed sign requests in each state: prepared (the client), queued (the service), submitted (the network).",
    ["stage"],
    STAGE_SECONDS,
  );
  const signs = metrics.histogram(
    "sign_duration_seconds",
    "Time from the user's half of a completed sign request to its verified signature.",
    [],
    SIGN_SECONDS,
  );
  const waits = metrics.histogram(
    "presign_wait_duration_seconds",
    "Wait of calls that found an empty presign bucket, by outcome: served, gave_up, or refused because too many calls were waiting.",
    ["outcome"],
    WAIT_SECONDS,
  );
  for (const outcome of ["served", "gave_up", "refused"]) waits.zero({ outcome });
  const held = metrics.gauge("lanes_held", "Lanes whose lease this process holds.");
  const blocked = metrics.counter(
    "submissions_blocked_total",
    "Transactions that the chain refuses until the operator acts, by cause. Their operations stay in the queue.",
    ["cause"],
  );
  for (const cause of OPERATOR_CAUSES) blocked.inc({ cause }, 0);
  const mixUps = metrics.counter(
    "fullnode_mixed_up_answers_total",
    "Replies of the fullnode that belong to another request. The service ignores them.",
    ["read"],
  );
  for (const read of MIXED_UP_READS) mixUps.inc({ read }, 0);
  const switches = metrics.counter(
    "fullnode_switches_total",
    "Changes of the fullnode that answers, for networks with several.",
  );
  switches.inc({}, 0);

  return {
    signs: {
      completed({ preparedSeconds, queuedSeconds, submittedSeconds }) {
        ended.inc({ outcome: "completed" });
        const times = { prepared: preparedSeconds, queued: queuedSeconds, submitted: submittedSeconds };
        for (const [stage, seconds] of Object.entries(times))
          if (seconds !== null) stages.observe({ stage }, Math.max(0, seconds));
        if (queuedSeconds !== null && submittedSeconds !== null)
          signs.observe(Math.max(0, queuedSeconds + submittedSeconds));
      },
      failed(reason) {
        const outcome = OUTCOMES.find((known) => known === reason.toLowerCase()) ?? "other";
        ended.inc({ outcome });
      },
    },
    onPresignWait: (outcome, durationMs) => waits.observe({ outcome }, durationMs / 1000),
    onLease: (change) => held.inc(change),
    onBlocked: (cause) => blocked.inc({ cause }),
    onFullnodeSwitch: () => switches.inc({}),
    onMixUp: ({ read }) => mixUps.inc({ read: MIXED_UP_READS.includes(read) ? read : "other" }),
  };
}

/** Counts events of one network's parts. */
export interface ServiceMetrics {
  readonly signs: SignObserver;
  onPresignWait(outcome: PresignWaitOutcome, durationMs: number): void;
  onLease(change: 1 | -1): void;
  /** Counts refusals that only the operator can end. */
  onBlocked(cause: OperatorCause): void;
  /** Counts changes of the fullnode that answers. */
  onFullnodeSwitch(): void;
  /** Counts replies of the fullnode that belong to another request. */
  onMixUp: MixUpReport;
}

/** The final reasons of a request. Other reasons are counted as `other`. */
const OUTCOMES = ["completed", "reservation_expired", "network_rejected", "chain_rejected", "other"] as const;

/** The kinds of mixed-up requests. Anything else is counted as `other`. */
const MIXED_UP_READS = [
  "object",
  "owner",
  "field",
  "coin",
  "transaction",
  "checkpoint",
  "key",
  "session",
  "signature",
  "other",
];

const STAGE_SECONDS = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const SIGN_SECONDS = [0.5, 1, 2, 3, 5, 7.5, 10, 15, 30, 60, 300];
const WAIT_SECONDS = [0.1, 0.5, 1, 2.5, 5, 10, 20, 60];
