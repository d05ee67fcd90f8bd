import { importsOf, sourcesBelow } from "../../../test/support/repository/source-files.ts";

/** The rooms that decide about money, keys and trust. */
export const ROOMS = [
  "service/ledger",
  "service/signing",
  "service/presigns",
  "service/billing",
  "service/access",
  "service/chain/submit",
  "service/onboarding",
  "service/onboarding/custody",
  "client/sdk",
  "client/crypto",
  "client/seed",
  "protocol",
] as const;

/** Returns the files of a room, without the rooms in it that are gone through by themselves. */
export function filesOf(room: string): string[] {
  const inner = ROOMS.filter((other) => other.startsWith(`${room}/`));
  return sourcesBelow([`src/${room}`], [".ts"])
    .map(({ path }) => path)
    .filter((file) => !inner.some((other) => file.startsWith(`src/${other}/`)));
}

/**
 * Returns the nearest tests of a room: those of its folders, and those that import one of its files themselves, the
 * cheap ones first.
 */
export function testsOf(room: string): string[] {
  const files = new Set(filesOf(room));
  const near = sourcesBelow(
    KINDS.map((kind) => `test/${kind}`),
    [".test.ts"],
  ).filter(
    (test) =>
      !LONG.includes(test.path) &&
      (KINDS.some((kind) => test.path.startsWith(`test/${kind}/${room}/`)) ||
        importsOf(test).some(({ file }) => file !== undefined && files.has(file))),
  );
  return near.map(({ path }) => path).sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

/** Tests that take too long to be repeated for each mutant. */
const LONG: readonly string[] = [
  "test/race/restore.test.ts",
  "test/race/ill-network.test.ts",
  "test/race/deposit-checkpoints.test.ts",
  "test/component/client/sdk/lying-service.test.ts",
  "test/component/service/app/hostile-declarer.test.ts",
];

const KINDS = ["unit", "component", "isolated", "race"];

/** Returns whether a test file replaces modules, so that it needs sources of its own. */
export function needsIsolation(test: string): boolean {
  return test.startsWith("test/isolated/");
}

function rank(test: string): number {
  return KINDS.indexOf(test.split("/")[1]!);
}
