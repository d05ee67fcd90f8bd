import { expect, it } from "vitest";
import { didYouMean } from "../../../src/cli/command-line/option.ts";

const KNOWN = ["project", "presign", "price", "ledger", "treasury", "doctor"];

it.each([
  ["porject", " (did you mean project?)"],
  ["tresury", " (did you mean treasury?)"],
  ["doc", " (did you mean doctor?)"],
  ["pre", " (did you mean presign?)"],
  ["LEDGER", " (did you mean ledger?)"],
  ["frobnicate", ""],
  ["", ""],
])("for the mistyped word %j the hint is %j", (typed, hint) => {
  expect(didYouMean(typed, KNOWN)).toBe(hint);
});

it("a hint repeats only known words, because a mistyped one may be a key", () => {
  const key = `tss_live_${"x".repeat(10_000)}`;
  expect(didYouMean(key, KNOWN)).toBe("");
  expect(didYouMean("ledgr", KNOWN)).not.toContain("ledgr?");
});
