import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type Allowance as AllowanceMessage,
  AllowanceSchema,
  type BudgetLeft as BudgetLeftMessage,
  BudgetLeftSchema,
  type Budget as BudgetMessage,
} from "../../../../gen/proto/tss/v1/allowance_pb.ts";
import { SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { invalidField } from "../../platform/errors/service-error.ts";
import type { Allowance, Budget } from "./allowance.ts";
import { ALGORITHMS, type BudgetLeft, type Limits } from "./allowances.ts";

/**
 * Returns the limits of a message that the rules of the contract admit. Throws VALIDATION if it limits nothing, because
 * its sender expects otherwise.
 */
export function decodeLimits(message: AllowanceMessage | undefined): Limits {
  if (message === undefined) return {};
  const { userReferences, dwalletIds, budget } = message;
  const algorithms = ALGORITHMS.filter((name) => message.algorithms.includes(SignatureAlgorithm[name]));
  const isEmpty = [userReferences, dwalletIds, algorithms].every((list) => list.length === 0);
  if (isEmpty && budget === undefined) throw invalidField("allowance", "has no limit");
  return {
    userReferences: userReferences.length === 0 ? undefined : userReferences,
    dwalletIds: dwalletIds.length === 0 ? undefined : dwalletIds,
    algorithms: algorithms.length === 0 ? undefined : algorithms,
    budget: budget && decodeBudget(budget, "allowance.budget"),
  };
}

/** Returns the budget of a message. Throws VALIDATION, naming the field, if it has neither limit. */
export function decodeBudget({ windowSeconds, maxCount, maxMicroUsd }: BudgetMessage, field: string): Budget {
  if (maxCount === undefined && maxMicroUsd === undefined)
    throw invalidField(field, "needs max_count or max_micro_usd");
  return { windowSeconds, maxCount, maxMicroUsd };
}

/** Returns the parts of a reply that show an allowance and what is left of its budget; none for a key without limits. */
export function encodeLimits(
  allowance: Allowance | undefined,
  left: BudgetLeft | undefined,
): { allowance?: AllowanceMessage; budgetLeft?: BudgetLeftMessage } {
  return {
    ...(allowance && { allowance: encodeAllowance(allowance) }),
    ...(left && { budgetLeft: encodeBudgetLeft(left) }),
  };
}

function encodeAllowance({ userReferences, dwalletIds, algorithms, budget }: Allowance): AllowanceMessage {
  return create(AllowanceSchema, {
    userReferences: [...(userReferences ?? [])],
    dwalletIds: [...(dwalletIds ?? [])],
    algorithms: (algorithms ?? []).map((name) => SignatureAlgorithm[name]),
    ...(budget && { budget: encodeBudget(budget) }),
  });
}

/** Encodes a budget. */
export function encodeBudget({ windowSeconds, maxCount, maxMicroUsd }: Budget) {
  return {
    windowSeconds,
    ...(maxCount !== undefined && { maxCount }),
    ...(maxMicroUsd !== undefined && { maxMicroUsd }),
  };
}

function encodeBudgetLeft({ leftCount, leftMicroUsd, growsAt }: BudgetLeft): BudgetLeftMessage {
  return create(BudgetLeftSchema, {
    ...(leftCount !== null && { count: leftCount }),
    ...(leftMicroUsd !== null && { microUsd: leftMicroUsd }),
    ...(growsAt !== null && { growTime: timestampFromDate(growsAt) }),
  });
}
