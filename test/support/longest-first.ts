import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Orders the files of a run so that no processor waits at its end for one long file: the projects with the longest files
 * first, the files of a project together, because they share their modules, and its longest files first. Vitest goes by
 * sizes of files, which say little about times.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => placeOf(a) - placeOf(b));
  }
}

/** The projects that share processors, in the order in which they run. */
const PROJECTS = ["sim", "crypto", "fuzz", "interop", "race", "component", "isolated", "unit"];

/** The files that take longer than half a minute on two cores, the longest first. */
const LONGEST = [
  "flow/resume",
  "flow/signers",
  "flow/demo",
  "flow/readme",
  "flow/replicas",
  "crypto/localnet-sdk",
  "interop/documented-commands",
];

function placeOf({ project, moduleId }: TestSpecification): number {
  const long = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  return PROJECTS.indexOf(project.name) * 2 * LONGEST.length + (long === -1 ? LONGEST.length : long);
}
