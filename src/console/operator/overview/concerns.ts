import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { PresignBucket } from "../../../../gen/client/tss/v1/admin_pb.ts";
import type {
  BalanceBurn,
  GetLanesResponse,
  GetMoneyResponse,
  GetOutboxResponse,
  GetReadinessResponse,
  GetTreasuryHistoryResponse,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { SweepCount_State as SweepState } from "../../../../gen/client/tss/v1/operations_pb.ts";
import { type Concern, urgentFirst } from "../../format/concern.ts";
import { formatCount, formatDays, formatDuration } from "../../format/text.ts";

/**
 * Returns what an operator has to do something about, the most urgent first. What mends itself is not among it: a bucket
 * that nobody uses, a bucket that is being filled, and an operation that has waited for seconds.
 */
export function concernsOf(state: ServiceState): Concern[] {
  return urgentFirst([
    ...checkConcerns(state.readiness),
    ...laneConcerns(state.lanes),
    ...outboxConcerns(state.outbox),
    ...presignConcerns(state.buckets),
    ...reserveConcerns(state.reserves),
    ...moneyConcerns(state.money),
  ]);
}

/** What the service says about itself. */
export interface ServiceState {
  readonly readiness: Pick<GetReadinessResponse, "checks">;
  readonly lanes: Pick<GetLanesResponse, "lanes">;
  readonly outbox: Pick<GetOutboxResponse, "entries" | "readTime">;
  readonly buckets: readonly Pick<
    PresignBucket,
    "signatureAlgorithmName" | "ready" | "pending" | "lowWater"
  >[];
  readonly reserves: Pick<GetTreasuryHistoryResponse, "ika" | "sui" | "gas">;
  readonly money: Pick<
    GetMoneyResponse,
    "ledgerVerification" | "waitingDepositCount" | "oldestWaitingDepositTime" | "sweeps" | "readTime"
  >;
}

const LANES = { href: "#/lanes", page: "Lanes and outbox" } as const;
const PRESIGNS = { href: "#/presigns", page: "Presigns" } as const;
const TREASURY = { href: "#/treasury", page: "Treasury and gas" } as const;
const MONEY = { href: "#/money", page: "Money" } as const;

type Place = Pick<Concern, "href" | "page"> & Required<Pick<Concern, "runbook">>;

const PLACE_OF_CHECK: Readonly<Record<string, Place>> = {
  lanes: { ...LANES, runbook: "LaneStuck" },
  outbox: { ...LANES, runbook: "OutboxStuck" },
  presigns: { ...PRESIGNS, runbook: "PresignPoolEmpty" },
  treasury: { ...TREASURY, runbook: "TreasuryEmpty" },
};
const OTHER_CHECK: Place = { ...LANES, runbook: "ReplicaNotReady" };

function checkConcerns({ checks }: ServiceState["readiness"]): Concern[] {
  return checks
    .filter(({ ok }) => !ok)
    .map(({ name, vital, reason }) => ({
      tone: vital ? "bad" : "warn",
      text: `The check ${name} fails: ${vital ? "the replica serves nobody" : "the replica serves calls"}.`,
      remedy: reason,
      ...(PLACE_OF_CHECK[name] ?? OTHER_CHECK),
    }));
}

function laneConcerns({ lanes }: ServiceState["lanes"]): Concern[] {
  if (!lanes.some(({ foreignTxDigest }) => foreignTxDigest !== undefined)) return [];
  return [
    {
      tone: "bad",
      text: "A lane has a transaction that this service did not send, so no lane sends.",
      remedy:
        "Find out who else has the key of the hot wallet, then follow the runbook’s ForeignTransaction.",
      runbook: "ForeignTransaction",
      ...LANES,
    },
  ];
}

function outboxConcerns({ entries, readTime }: ServiceState["outbox"]): Concern[] {
  if (readTime === undefined) return [];
  const created = entries.flatMap(({ oldestCreateTime }) =>
    oldestCreateTime === undefined ? [] : [timestampMs(oldestCreateTime)],
  );
  const waitsMs = timestampMs(readTime) - Math.min(...created);
  if (created.length === 0 || waitsMs < OUTBOX_WAIT_MS) return [];
  return [
    {
      tone: "bad",
      text: `An operation has waited ${formatDuration(waitsMs)} for the chain.`,
      remedy: "See which lane is stuck, and whether the fullnode answers.",
      runbook: "OutboxStuck",
      ...LANES,
    },
  ];
}

/** As long as the alert OutboxStuck waits. */
const OUTBOX_WAIT_MS = 60_000;

function presignConcerns(buckets: ServiceState["buckets"]): Concern[] {
  // A bucket without a low water is one that nobody uses.
  return buckets
    .filter(({ ready, lowWater }) => lowWater > 0 && ready === 0)
    .map(({ signatureAlgorithmName: name, pending }) =>
      pending > 0
        ? {
            tone: "warn",
            text: `No presign of ${name} is ready; ${formatCount(pending)} are on the way.`,
            remedy: "Signatures wait until they arrive. Raise the low water if this happens often.",
            runbook: "PresignPoolEmpty",
            ...PRESIGNS,
          }
        : {
            tone: "bad",
            text: `No presign of ${name} is ready, and none is on the way.`,
            remedy: "Refill the bucket, and look at the lanes if that does not help.",
            runbook: "PresignPoolEmpty",
            ...PRESIGNS,
          },
    );
}

function reserveConcerns({ ika, sui, gas }: ServiceState["reserves"]): Concern[] {
  return [
    reserveConcern("IKA of the Treasury", ika, "Put IKA into it: tss treasury fund", "TreasuryLow"),
    reserveConcern("SUI of the Treasury", sui, "Put SUI into it: tss treasury fund", "TreasuryLow"),
    reserveConcern("SUI for gas", gas, "Send SUI to the address that pays for gas", "GasLow"),
  ].flatMap((concern) => concern ?? []);
}

function reserveConcern(
  name: string,
  burn: BalanceBurn | undefined,
  remedy: string,
  runbook: string,
): Concern | undefined {
  const days = burn?.daysLeft;
  if (days === undefined || days >= WARNING_DAYS) return undefined;
  return {
    tone: days < ALARM_DAYS ? "bad" : "warn",
    text: `The ${name} lasts ${formatDays(days)} at the rate of the last week.`,
    remedy: `${remedy}.`,
    runbook,
    ...TREASURY,
  };
}

/** Fewer days than this stop signatures soon. */
export const ALARM_DAYS = 3;
/** Fewer days than this need a deposit. */
export const WARNING_DAYS = 14;

function moneyConcerns(money: ServiceState["money"]): Concern[] {
  const { ledgerVerification, waitingDepositCount, oldestWaitingDepositTime, sweeps, readTime } = money;
  const concerns: Concern[] = [];
  const differences = ledgerVerification?.differenceCount ?? 0;
  if (differences > 0)
    concerns.push({
      tone: "bad",
      text: `The ledger has ${formatCount(differences)} ${differences === 1 ? "mismatch" : "mismatches"}.`,
      remedy: "Compare the amounts before anybody changes a row.",
      runbook: "LedgerMismatch",
      ...MONEY,
    });
  const oldest =
    oldestWaitingDepositTime && readTime && timestampMs(readTime) - timestampMs(oldestWaitingDepositTime);
  if (oldest !== undefined && oldest > DEPOSIT_WAIT_MS)
    concerns.push({
      tone: "warn",
      text: `${formatCount(waitingDepositCount)} ${waitingDepositCount === 1n ? "deposit waits" : "deposits wait"}, the oldest for ${formatDuration(oldest)}.`,
      remedy: "A deposit waits for a fresh price, or for its minimum.",
      runbook: "PriceStale",
      ...MONEY,
    });
  const failed = sweeps.find(({ state }) => state === SweepState.failed)?.count ?? 0n;
  if (failed > 0n)
    concerns.push({
      tone: "warn",
      text: `${formatCount(failed)} ${failed === 1n ? "sweep has" : "sweeps have"} failed.`,
      remedy: "The next sweep takes their coins. Look at its transaction if they fail again.",
      ...MONEY,
    });
  return concerns;
}

const DEPOSIT_WAIT_MS = 3_600_000;
