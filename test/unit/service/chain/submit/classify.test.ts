import { expect, it } from "vitest";
import {
  classifyFailure,
  INVALID_TRANSACTION,
  isAboutAll,
  isAboutVersions,
  type OperatorCause,
  operatorCause,
  type Verdict,
} from "../../../../../src/service/chain/submit/classify.ts";

const ABORTS: [module: string, code: number, verdict: Verdict][] = [
  ["support_config", 4, "retry"],
  ["sessions_manager", 3, "used"],
  ["treasury", 7, "fault"],
  ["dynamic_field", 0, "fault"],
  ["coordinator_inner", 4, "fault"],
  ["coordinator_inner", 2, "fault"],
  ["treasury", 6, "fault"],
];

it.each(ABORTS)("classifies abort %s:%d as %s", (module, code, verdict) => {
  expect(classifyFailure({ kind: "MoveAbort", message: "", abort: { module, code } })).toBe(verdict);
});

const OPERATOR_ABORTS: [module: string, code: number, cause: OperatorCause, isAboutEveryCall: boolean][] = [
  ["coordinator", 0, "coordinator_version", true],
  ["coordinator", 2, "coordinator_version", true],
  ["pricing_and_fee_manager", 1, "ika_price_missing", false],
  ["coordinator_inner", 21, "ika_price_missing", false],
  ["sessions_manager", 1, "price_ceiling", false],
  ["sessions_manager", 2, "price_ceiling", false],
  ["treasury", 4, "price_ceiling", false],
  ["treasury", 1, "treasury_version", true],
  ["treasury", 2, "treasury_paused", true],
  ["treasury", 3, "operator_foreign", true],
  ["operators", 1, "operator_revoked", true],
  ["operators", 2, "operator_foreign", true],
  ["operators", 3, "operator_expired", true],
  ["operators", 4, "operator_limit", false],
];

it.each(OPERATOR_ABORTS)("leaves abort %s:%d to the operator, as %s", (module, code, cause, isAboutEvery) => {
  const failure = { kind: "MoveAbort", message: "", abort: { module, code } };
  expect(classifyFailure(failure)).toBe("operator");
  expect(operatorCause(failure)).toBe(cause);
  expect(isAboutAll(failure)).toBe(isAboutEvery);
});

it.each(["CommandArgumentError", "TypeArgumentError"])("leaves %s to the operator", (kind) => {
  const failure = { kind, message: "TypeMismatch for 0 argument in 1st command" };
  expect(classifyFailure(failure)).toBe("operator");
  expect(operatorCause(failure)).toBe("wrong_package");
  expect(isAboutAll(failure)).toBe(true);
});

it("returns a cause only for failures that the operator must resolve", () => {
  expect(operatorCause({ kind: "InsufficientGas", message: "Insufficient gas" })).toBe("gas");
  expect(
    operatorCause({ kind: "MoveAbort", message: "", abort: { module: "coordinator_inner", code: 0 } }),
  ).toBe(undefined);
  expect(operatorCause({ kind: "SizeError", message: "" })).toBe(undefined);
});

it.each([
  ["CongestedObjects", "", "retry"],
  [INVALID_TRANSACTION, "object is not available", "retry"],
  ["Unknown", "No valid gas coins found for the transaction.", "operator"],
  ["Unknown", "the gas coins of the sender are insufficient", "operator"],
  ["Unknown", "Insufficient balance to pay for the gas", "operator"],
  ["Unknown", "Missing gas payment", "operator"],
  ["Unknown", "Balance of gas object 10 is lower than the needed amount: 100", "operator"],
  ["Unknown", "something new", "retry"],
  ["SizeError", "", "fault"],
] as const)("classifies %s (%s) as %s", (kind, message, verdict) => {
  expect(classifyFailure({ kind, message })).toBe(verdict);
});

it.each([
  "Object 0x5 version 7 is not available for consumption, current version: 8",
  "Could not find the referenced object 0x5 at version 7",
  "Invalid Object digest for object 0x5",
  "Available amount in account 0x5 for 0x2::sui::SUI is less than requested: 4 < 5",
])("refused before its execution with `%s`, a batch waits for newer versions as a whole", (message) => {
  const refused = { kind: INVALID_TRANSACTION, message };
  expect([isAboutVersions(refused), isAboutAll(refused), classifyFailure(refused)]).toEqual([
    ...[true, true],
    "retry",
  ]);
  // An execution's own failure says nothing about versions.
  expect(isAboutVersions({ kind: "Unknown", message })).toBe(false);
});

it.each([
  ["a congested object", "CongestedObjects", "", true],
  ["gas that is missing before the execution", INVALID_TRANSACTION, "Missing gas payment", true],
  ["gas that ran out", "InsufficientGas", "Insufficient gas", false],
  ["anything else", INVALID_TRANSACTION, "something new", false],
])("%s concerns a whole batch: %s, %s, %s", (_what, kind, message, isAll) => {
  expect(isAboutAll({ kind, message })).toBe(isAll);
});
