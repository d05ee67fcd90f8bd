import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AccountKey } from "../../../../gen/client/tss/v1/account_pb.ts";
import type { GetBalanceResponse, Usage } from "../../../../gen/client/tss/v1/billing_pb.ts";
import type { SignRequest } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { type Concern, urgentFirst } from "../../format/concern.ts";
import { formatCount, formatDays, formatDuration, formatMoney } from "../../format/text.ts";

/** Returns what a project has to do something about, the most urgent first. */
export function projectConcerns({ balance, week, keys, failed, nowMs }: ProjectState): Concern[] {
  return urgentFirst([
    ...(balance === undefined ? [] : balanceConcerns(balance, week)),
    ...keyConcerns(keys, nowMs),
    ...failureConcerns(failed, nowMs),
  ]);
}

/** What the service says about a project. A part that the key may not read is undefined or empty. */
export interface ProjectState {
  readonly balance: Pick<GetBalanceResponse, "balanceMicroUsd" | "heldMicroUsd"> | undefined;
  /** The sums of the last seven days. */
  readonly week: Pick<Usage, "chargedMicroUsd"> | undefined;
  readonly keys: readonly Pick<AccountKey, "name" | "expireTime" | "revokeTime" | "replacedBy">[];
  /** The newest failed sign requests. */
  readonly failed: readonly Pick<SignRequest, "createTime" | "failure">[];
  readonly nowMs: number;
}

const DEPOSITS = { href: "#/deposits", page: "Deposits" } as const;
const KEYS = { href: "#/keys", page: "Keys" } as const;
/** The list with the state `failed`. */
const FAILED = { href: "#/signs?state=5", page: "Failed requests" } as const;

/** Returns what the project may spend, in micro-USD. */
export function toSpend({ balanceMicroUsd, heldMicroUsd }: NonNullable<ProjectState["balance"]>): bigint {
  return balanceMicroUsd - heldMicroUsd;
}

/** Returns for how many days a balance lasts at the rate of the last week; undefined if nothing was spent. */
export function daysLeft(spendable: bigint, week: ProjectState["week"]): number | undefined {
  if (week === undefined || week.chargedMicroUsd <= 0n) return undefined;
  return (Number(spendable) / Number(week.chargedMicroUsd)) * 7;
}

function balanceConcerns(
  balance: NonNullable<ProjectState["balance"]>,
  week: ProjectState["week"],
): Concern[] {
  const spendable = toSpend(balance);
  if (spendable <= 0n)
    return [
      {
        tone: "bad",
        text: "There is nothing to spend: the service refuses signatures and new dWallets.",
        remedy: "Deposit coins, or ask the operator for credit.",
        ...DEPOSITS,
      },
    ];
  const days = daysLeft(spendable, week);
  if (days === undefined || days >= BALANCE_WARNING_DAYS) return [];
  return [
    {
      tone: days < 1 ? "bad" : "warn",
      text: `The balance of ${formatMoney(spendable)} lasts ${formatDays(days)} at the rate of the last week.`,
      remedy: "Deposit coins, or ask the operator for credit.",
      ...DEPOSITS,
    },
  ];
}

const BALANCE_WARNING_DAYS = 7;

function keyConcerns(keys: ProjectState["keys"], nowMs: number): Concern[] {
  return keys.flatMap(({ name, expireTime, revokeTime, replacedBy }) => {
    if (expireTime === undefined || revokeTime !== undefined || replacedBy !== undefined) return [];
    const leftMs = timestampMs(expireTime) - nowMs;
    if (leftMs <= 0 || leftMs > KEY_WARNING_MS) return [];
    return [
      {
        tone: leftMs < DAY_MS ? "bad" : "warn",
        text: `The key “${name}” expires in ${formatDuration(leftMs)}.`,
        remedy: "Ask the operator to rotate it, and give the new key to the programs that use it.",
        ...KEYS,
      } as const,
    ];
  });
}

const DAY_MS = 86_400_000;
const KEY_WARNING_MS = 14 * DAY_MS;

/** One concern for each reason. A reservation that expired is the client's own choice. */
function failureConcerns(failed: ProjectState["failed"], nowMs: number): Concern[] {
  const counts = new Map<string, number>();
  for (const { createTime, failure } of failed) {
    if (failure === undefined || failure.reason === "RESERVATION_EXPIRED") continue;
    if (createTime === undefined || nowMs - timestampMs(createTime) > DAY_MS) continue;
    counts.set(failure.reason, (counts.get(failure.reason) ?? 0) + 1);
  }
  return [...counts].map(([reason, count]) => ({
    tone: "warn",
    text: `${formatCount(count)} ${count === 1 ? "signature" : "signatures"} failed in the last day: ${reason}.`,
    remedy: "Open a failed request to see why, and whether its price was refunded.",
    ...FAILED,
  }));
}
