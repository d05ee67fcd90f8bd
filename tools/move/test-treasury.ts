import { initMovePackageBuilder, testMovePackage } from "@zktx.io/sui-move-builder/full";
import { asPublished, type ReadDependency } from "./dependencies.ts";
import { createDiskFetcher } from "./fetcher.ts";
import type { MoveFiles } from "./move-files.ts";
import { type ScenarioRun, scenarioTests } from "./scenario-tests.ts";

/** The result of the Move tests, with the report of Sui's test runner. */
export interface MoveTestReport {
  readonly isPassed: boolean;
  readonly output: string;
}

/**
 * Runs the Treasury's Move tests in Sui's own virtual machine: the hand-written ones and one for each scenario.
 * `network` is the module that acts as Ika. Throws if a module does not compile.
 */
export async function testTreasury(options: {
  readonly treasury: MoveFiles;
  readonly network: string;
  readonly scenarios: readonly ScenarioRun[];
  readonly read: ReadDependency;
}): Promise<MoveTestReport> {
  await initMovePackageBuilder();
  const tested = await testMovePackage({
    files: {
      ...options.treasury,
      "tests/network.move": options.network,
      "tests/scenario_tests.move": scenarioTests(options.scenarios),
    },
    network: "mainnet",
    silenceWarnings: true,
    fetcher: createDiskFetcher(asPublished(options.read, "mainnet")),
    ansiColor: false,
  });
  if ("error" in tested) throw new Error(`the Move tests do not run: ${tested.error}`);
  if (!tested.output.includes("Test result:"))
    throw new Error(`the Move tests do not compile: ${tested.output}`);
  return { isPassed: tested.passed, output: tested.output };
}
