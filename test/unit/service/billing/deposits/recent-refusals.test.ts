import { expect, it } from "vitest";
import { createRecentRefusals } from "../../../../../src/service/billing/deposits/deposits.ts";
import { createManualClock } from "../../../../support/manual-clock.ts";

it("remembers a refusal of one project for two seconds of its clock", () => {
  const clock = createManualClock();
  const refusals = createRecentRefusals(clock);
  refusals.add("one", "digest", "DEPOSIT_TAKEN");
  clock.advance(1_999);
  expect(refusals.find("one", "digest")).toBe("DEPOSIT_TAKEN");
  expect(refusals.find("other", "digest")).toBeUndefined();
  clock.advance(1);
  expect(refusals.find("one", "digest")).toBeUndefined();
});
