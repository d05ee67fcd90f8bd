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

/** The projects in the order in which they run. A worker starts anew for each, so they do not alternate. */
const PROJECTS = [
  "sim",
  "crypto",
  "fuzz",
  "interop",
  "race",
  "component",
  "isolated",
  "unit",
  "flow",
  "browser",
];

/** The files that take longer than a quarter of a minute on two cores, the longest first. */
const LONGEST = [
  "flow/signers",
  "flow/resume",
  "flow/readme",
  "flow/exit",
  "flow/replicas",
  "flow/examples",
  "flow/demo",
  "flow/service-postgres",
  "flow/deposits",
  "flow/key-rotation",
  "flow/service-protocols",
  "flow/sweep-crash",
  "flow/try",
  "browser/provider-example",
  "browser/console",
  "browser/browser",
  "browser/example",
  "browser/react-example",
  "browser/console-networks",
  "crypto/localnet-calls",
  "crypto/localnet-mpc",
  "crypto/localnet-sdk",
  "crypto/own-dkg-message",
  "interop/client-package",
  "interop/documented-commands",
  "interop/documented-treasury",
  "race/ill-network",
  "race/deposit-checkpoints",
  "race/two-networks",
  "crypto/own-half-faults",
  "sdk/lying-service",
  "app/hostile-declarer",
  "errors/malformed-calls",
  "release/run-release",
];

function placeOf({ project, moduleId }: TestSpecification): number {
  const long = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  const place = long === -1 ? LONGEST.length : long;
  return PROJECTS.indexOf(project.name) * (LONGEST.length + 1) + place;
}
