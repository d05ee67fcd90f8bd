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
const PROJECTS = ["interop", "component", "isolated", "unit", "flow"];

/** The files that take longer than a quarter of a minute on two cores, the longest first. */
const LONGEST = [
  "flow/signer",
  "browser/console",
  "browser/browser",
  "flow/signers",
  "browser/provider-example",
  "browser/example",
  "flow/imported-key",
  "flow/resume",
  "flow/examples",
  "browser/console-users",
  "browser/react-example",
  "flow/exit",
  "flow/readme",
  "flow/replicas",
  "flow/signer-ethereum",
  "browser/console-networks",
  "flow/sharing",
  "flow/languages",
  "flow/key-rotation",
  "flow/recovery",
  "flow/service-postgres",
  "flow/watchtower",
  "flow/demo",
  "flow/drained-replica",
  "crypto/localnet-sdk",
  "crypto/localnet-mpc",
  "crypto/own-dkg-message",
  "crypto/own-ecdsa-message",
  "crypto/localnet-mpc-parameters",
  "race/ill-network",
  "sim/sim-server",
  "sim/kills",
  "sim/beside",
  "sim/sweep-deaths",
  "sdk/lying-service",
  "errors/malformed-calls",
  "race/deposit-checkpoints",
  "race/two-networks",
  "race/exits",
  "race/restore",
  "app/hostile-declarer",
  "tools/move-test",
  "access/many-sessions",
  "release/run-release",
  "interop/client-package",
  "interop/documented-commands",
  "interop/documented-treasury",
  "interop/localnet-package",
  "interop/alerts-and-dashboards",
  "interop/generated-clients",
];

function placeOf({ project, moduleId }: TestSpecification): number {
  const long = LONGEST.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`));
  const place = long === -1 ? LONGEST.length : long;
  return PROJECTS.indexOf(project.name) * (LONGEST.length + 1) + place;
}
