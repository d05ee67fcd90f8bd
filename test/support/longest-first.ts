import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Orders the files of a run so that no processor waits at the end for one long file: first the projects with the
 * longest files, then by length within a project. Files of a project stay together, because they share their modules.
 * Vitest orders by file size, which says little about the duration.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

/** The projects in the order in which they run. Those of one line share processors. */
const PROJECTS = [
  ["sim"],
  ["crypto"],
  ["fuzz"],
  ["interop"],
  ["race"],
  ["component"],
  ["isolated"],
  ["unit"],
  ["flow", "browser"],
];

/** The files that take longer than a quarter of a minute on two cores, the longest first. */
const LONGEST = [
  "flow/resume",
  "browser/console",
  "browser/browser",
  "flow/signers",
  "flow/demo",
  "flow/exit",
  "flow/readme",
  "flow/replicas",
  "flow/deposits",
  "flow/examples",
  "flow/sweep-crash",
  "flow/key-rotation",
  "browser/example",
  "browser/console-networks",
  "crypto/localnet-sdk",
  "crypto/localnet-mpc",
  "interop/documented-commands",
  "interop/documented-treasury",
  "race/ill-network",
  "race/deposit-checkpoints",
  "sdk/lying-service",
  "app/hostile-declarer",
];

function placeOf({ project, moduleId }: TestSpecification): number {
  const line = PROJECTS.findIndex((names) => names.includes(project.name));
  const long = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  const place = long === -1 ? LONGEST.length + (PROJECTS[line]?.indexOf(project.name) ?? 0) : long;
  return line * 2 * LONGEST.length + place;
}
