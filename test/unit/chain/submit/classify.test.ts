import { expect, it } from "vitest";
import { classifyFailure, INVALID_TRANSACTION, type Verdict } from "../../../../src/chain/submit/classify.ts";

const ABORTS: [module: string, code: number, verdict: Verdict][] = [
  ["support_config", 4, "retry"],
  ["sessions_manager", 1, "operator"],
  ["treasury", 5, "operator"],
  ["treasury", 8, "operator"],
  ["sessions_manager", 3, "used"],
  ["treasury", 7, "fault"],
  ["dynamic_field", 0, "fault"],
  ["coordinator_inner", 4, "fault"],
  ["coordinator_inner", 2, "fault"],
  ["treasury", 6, "fault"],
];

it.each(ABORTS)("takes abort %s:%d as %s", (module, code, verdict) => {
  expect(classifyFailure({ kind: "MoveAbort", message: "", abort: { module, code } })).toBe(verdict);
});

it.each([
  ["CongestedObjects", "", "retry"],
  [INVALID_TRANSACTION, "object is not available", "retry"],
  ["Unknown", "No valid gas coins found for the transaction.", "operator"],
  ["Unknown", "something new", "retry"],
  ["SizeError", "", "fault"],
] as const)("takes %s (%s) as %s", (kind, message, verdict) => {
  expect(classifyFailure({ kind, message })).toBe(verdict);
});
