import { expect, it } from "vitest";
import type { TestModule } from "vitest/node";
import SummaryReporter from "../../support/summary-reporter.ts";

/** A file of tests with these outcomes. */
function fileOf(relativeModuleId: string, ...states: string[]): TestModule {
  const tests = states.map((state) => ({ result: () => ({ state }) }));
  return { relativeModuleId, errors: () => [], children: { allTests: () => tests } } as unknown as TestModule;
}

it("a run that is ended names the files that had not ended, and counts them as failed", () => {
  const reporter = new SummaryReporter();
  const [slow, quick, hanging] = [
    fileOf("test/slow.test.ts", "passed"),
    fileOf("test/quick.test.ts", "passed", "failed", "skipped"),
    fileOf("test/hanging.test.ts"),
  ];
  for (const file of [slow, quick, hanging]) reporter.onTestModuleStart(file);
  reporter.onTestModuleEnd(quick);
  expect(reporter.linesWhenStopped()).toEqual([
    "\n",
    "not ended: test/slow.test.ts\n",
    "not ended: test/hanging.test.ts\n",
    "1 passed, 3 failed, 1 skipped\n",
  ]);
});

it("a run that is ended before its first file has failed", () => {
  expect(new SummaryReporter().linesWhenStopped()).toEqual(["\n", "0 passed, 1 failed\n"]);
});
