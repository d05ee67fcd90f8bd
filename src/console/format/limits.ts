import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AllowanceSchema } from "../../../gen/client/tss/v1/allowance_pb.ts";
import type { SignatureAlgorithm } from "../../../gen/client/tss/v1/types_pb.ts";
import { formatCount, formatMoney, parseMoney } from "./text.ts";

/** A budget and what is left of it, as the contract has them. */
interface ShownBudget {
  readonly windowSeconds: number;
  readonly maxCount?: number | undefined;
  readonly maxMicroUsd?: bigint | undefined;
}

interface ShownLeft {
  readonly count?: number | undefined;
  readonly microUsd?: bigint | undefined;
}

/** Describes a budget and what is left of it: `$3.50 of $5.00 and 9 of 10 requests left in a day`. */
export function budgetText(
  { windowSeconds, maxCount, maxMicroUsd }: ShownBudget,
  { count, microUsd }: ShownLeft = {},
): string {
  const parts = [
    ...(maxMicroUsd === undefined
      ? []
      : [`${formatMoney(microUsd ?? maxMicroUsd)} of ${formatMoney(maxMicroUsd)}`]),
    ...(maxCount === undefined
      ? []
      : [`${formatCount(count ?? maxCount)} of ${formatCount(maxCount)} requests`]),
  ];
  return `${parts.join(" and ")} left in ${windowText(windowSeconds)}`;
}

/** The choices for the window of a new budget: seconds, and the label. */
export const WINDOWS: readonly (readonly [string, string])[] = [
  ["3600", "an hour"],
  ["86400", "a day"],
  ["604800", "a week"],
  ["2592000", "thirty days"],
];

function windowText(seconds: number): string {
  const known = WINDOWS.find(([each]) => Number(each) === seconds);
  if (known !== undefined) return known[1];
  const [size, name] = UNITS.find(([each]) => seconds % each === 0) ?? [1, "seconds"];
  return `${formatCount(seconds / size)} ${name}`;
}

const UNITS = [
  [86_400, "days"],
  [3_600, "hours"],
  [60, "minutes"],
] as const;

/** The typed limits of a new key; empty texts limit nothing. */
export interface TypedLimits {
  /** References, one a line or separated by commas. */
  readonly users: string;
  /** Ids of dWallets, separated by spaces or commas. */
  readonly dwallets: string;
  readonly algorithms: readonly SignatureAlgorithm[];
  /** Dollars. */
  readonly sum: string;
  readonly count: string;
  /** Seconds. */
  readonly window: string;
}

/** No limits, and a window of a day. */
export const NO_LIMITS: TypedLimits = {
  users: "",
  dwallets: "",
  algorithms: [],
  sum: "",
  count: "",
  window: "86400",
};

/** What is wrong with typed references, as a sentence; undefined if nothing is. */
export function referencesFault(text: string): string | undefined {
  const references = referencesIn(text);
  if (references.some((reference) => !/^[ -~]{1,128}$/.test(reference)))
    return "A reference has 1 to 128 printable ASCII characters.";
  return references.length <= 16 ? undefined : `These are ${references.length} users, and 16 are allowed.`;
}

/** What is wrong with typed ids of dWallets, as a sentence; undefined if nothing is. */
export function dwalletsFault(text: string): string | undefined {
  const ids = dwalletsIn(text);
  if (ids.some((id) => !/^0x[0-9a-f]{64}$/.test(id))) return "A dWallet’s id is 0x and 64 hex digits.";
  return ids.length <= 64 ? undefined : `These are ${ids.length} dWallets, and 64 are allowed.`;
}

/** What is wrong with the typed sum of a budget, as a sentence; undefined if nothing is. */
export function sumFault(text: string): string | undefined {
  if (text.trim() === "") return undefined;
  const sum = parseMoney(text);
  return sum !== undefined && sum > 0n ? undefined : "Write an amount above zero such as 12.50.";
}

/** Returns the allowance of the limits, which have no fault; undefined if none is typed. */
export function allowanceIn({
  users,
  dwallets,
  algorithms,
  sum,
  count,
  window,
}: TypedLimits): MessageInitShape<typeof AllowanceSchema> | undefined {
  const maxMicroUsd = parseMoney(sum);
  const maxCount = count === "" ? undefined : Number(count);
  const budget = {
    windowSeconds: Number(window),
    ...(maxMicroUsd !== undefined && { maxMicroUsd }),
    ...(maxCount !== undefined && { maxCount }),
  };
  const hasBudget = maxMicroUsd !== undefined || maxCount !== undefined;
  const [userReferences, dwalletIds] = [referencesIn(users), dwalletsIn(dwallets)];
  if (!hasBudget && [userReferences, dwalletIds, algorithms].every((list) => list.length === 0))
    return undefined;
  return { userReferences, dwalletIds, algorithms: [...algorithms], ...(hasBudget && { budget }) };
}

function referencesIn(text: string): string[] {
  return unique(text.split(/[\n,]/));
}

function dwalletsIn(text: string): string[] {
  return unique(text.split(/[\s,]/));
}

function unique(words: readonly string[]): string[] {
  return [...new Set(words.map((word) => word.trim()).filter(Boolean))];
}
