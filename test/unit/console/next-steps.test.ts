import { expect, it } from "vitest";
import { nextStep, STEPS, waitingStep } from "../../../src/console/operator/signing/next-steps.ts";
import { readSource, sourcesBelow } from "../../support/repository/source-files.ts";

it("every reason by which the service fails a sign request has a next step", () => {
  const written = sourcesBelow(["src/service/signing", "src/service/chain/submit"], [".ts"]).flatMap(
    ({ text }) =>
      [...text.matchAll(/(?:\breason: "|failure_reason = ')([A-Z_]{6,})/g)].map(([, reason = ""]) => reason),
  );
  expect(written).toContain("RESERVATION_EXPIRED");
  expect([...new Set(written)].filter((reason) => !(reason in STEPS))).toEqual([]);
});

it("each step that names an entry of the runbook leads to one", () => {
  const runbook = readSource("docs/runbook.md").text;
  const steps = [...Object.values(STEPS), waitingStep("queued"), waitingStep("submitted")];
  const named = steps.flatMap(({ runbook: entry }) => entry ?? []);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((entry) => !runbook.includes(`\n## ${entry}\n`))).toEqual([]);
});

it("a reason that is not known leads to the log and the runbook", () => {
  expect(nextStep("SOMETHING_NEW").text).toContain("runbook");
});
