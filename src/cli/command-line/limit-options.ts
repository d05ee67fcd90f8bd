import type { Allowance, Budget, BudgetLeft } from "../../../gen/proto/tss/v1/allowance_pb.ts";
import { SignatureAlgorithm, SignatureAlgorithmSchema } from "../../../gen/proto/tss/v1/types_pb.ts";
import { formatDollars } from "../../protocol/price-table.ts";
import { formatEnum, formatTime } from "../output/format.ts";
import {
  choicesOf,
  count,
  duration,
  objectId,
  optional,
  positiveMicroUsd,
  repeated,
  userReference,
  type Values,
  WrongValue,
} from "./option.ts";

/** The options that limit a session beyond its user. */
export const SESSION_LIMIT_OPTIONS = {
  dwallet: optional("<list>", "the dWallets that it uses, by their ids; default all", (value) =>
    value.split(",").map((each) => objectId(each.trim())),
  ),
  algorithm: optional("<list>", "its signature algorithms; default all", choicesOf(algorithmNames())),
  budget: optional(
    "<budget>",
    "its spending per window: 5.00/1d, 100req/12h or 5.00,100req/1d; default any",
    budgetOf,
  ),
};

/** The options that limit a narrow key. */
export const LIMIT_OPTIONS = {
  user: repeated(
    "<reference>",
    "a user that it acts for; repeat the option for several; default all",
    userReference,
  ),
  ...SESSION_LIMIT_OPTIONS,
};

/** Returns the allowance of a new key or session; undefined if no option limits it. */
export function allowanceOf({ user, dwallet, algorithm, budget }: LimitValues) {
  if ([user, dwallet, algorithm, budget].every((limit) => limit === undefined)) return undefined;
  return {
    userReferences: user ?? [],
    dwalletIds: dwallet ?? [],
    algorithms: (algorithm ?? []).map((name) => SignatureAlgorithm[name]),
    ...(budget && { budget }),
  };
}

/** A session names its user elsewhere. */
type LimitValues = Values<typeof SESSION_LIMIT_OPTIONS> & Partial<Values<typeof LIMIT_OPTIONS>>;

type AlgorithmName = Exclude<keyof typeof SignatureAlgorithm, "SIGNATURE_ALGORITHM_UNSPECIFIED">;

function algorithmNames(): AlgorithmName[] {
  return SignatureAlgorithmSchema.values
    .filter(({ number }) => number !== 0)
    .map(({ name }) => name as AlgorithmName);
}

const REQUESTS = /^(\d+)req$/;
const BUDGET_MAX_COUNT = 1_000_000_000;
const WINDOW_MAX_DAYS = 366;

/** What a budget limits, as the contract has it. */
interface NewBudget {
  readonly windowSeconds: number;
  readonly maxCount?: number;
  readonly maxMicroUsd?: bigint;
}

function budgetOf(value: string): NewBudget {
  const [limits = "", window, ...rest] = value.split("/");
  if (window === undefined || rest.length > 0) return wrongBudget();
  const windowSeconds = duration(WINDOW_MAX_DAYS)(window.trim());
  const parts = limits.split(",").map((part) => part.trim());
  const counts = parts.flatMap((part) => REQUESTS.exec(part)?.[1] ?? []);
  const sums = parts.filter((part) => !REQUESTS.test(part));
  if (windowSeconds === 0 || counts.length > 1 || sums.length > 1) return wrongBudget();
  return {
    windowSeconds,
    ...(counts[0] !== undefined && { maxCount: count(1, BUDGET_MAX_COUNT)(counts[0]) }),
    ...(sums[0] !== undefined && { maxMicroUsd: positiveMicroUsd(sums[0]) || wrongBudget() }),
  };
}

function wrongBudget(): never {
  throw new WrongValue("takes a budget such as 5.00/1d, 100req/12h or 5.00,100req/1d");
}

/** Formats the limits of a key or session, such as `users alice; Taproot`; `none` without limits. */
export function formatLimits({ allowance }: Limited): string {
  if (allowance === undefined) return "none";
  const { userReferences, dwalletIds, algorithms, budget } = allowance;
  return [
    ...(userReferences.length > 0 ? [`users ${userReferences.map(formatReference).join(",")}`] : []),
    ...(dwalletIds.length > 0 ? [`dwallets ${dwalletIds.join(",")}`] : []),
    ...(algorithms.length > 0
      ? [algorithms.map((algorithm) => formatEnum(SignatureAlgorithmSchema, algorithm)).join(",")]
      : []),
    ...(budget ? [`budget ${formatBudget(budget)}`] : []),
  ].join("; ");
}

/** A reference may contain the separators, and must not look like two. */
function formatReference(reference: string): string {
  return /[,;"]/.test(reference) ? JSON.stringify(reference) : reference;
}

/** Formats what is left of a budget, and when it grows; empty without a budget. */
export function formatBudgetLeft({ budgetLeft }: Limited): string {
  if (budgetLeft === undefined) return "";
  const { microUsd, count: left, growTime } = budgetLeft;
  const grows = growTime && `more at ${formatTime(growTime)}`;
  return [amountsOf(microUsd, left), grows].filter(Boolean).join("; ");
}

/** A key or a session as the contract shows it. */
interface Limited {
  readonly allowance?: Allowance | undefined;
  readonly budgetLeft?: BudgetLeft | undefined;
}

/** Formats a budget, such as `$5.00,100req/1d`. */
export function formatBudget({ maxMicroUsd, maxCount, windowSeconds }: Budget): string {
  return `${amountsOf(maxMicroUsd, maxCount)}/${formatWindow(windowSeconds)}`;
}

function amountsOf(microUsd: bigint | undefined, requests: number | undefined): string {
  const sum = microUsd === undefined ? [] : [formatDollars(microUsd)];
  return [...sum, ...(requests === undefined ? [] : [`${requests}req`])].join(",");
}

/** Formats a duration as its option takes it, if it is a whole number of minutes. */
function formatWindow(seconds: number): string {
  if (seconds % 86_400 === 0) return `${seconds / 86_400}d`;
  if (seconds % 3_600 === 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}
