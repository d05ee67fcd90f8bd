import type { Mutant } from "./mutant.ts";

const EXPLAIN = ["test/unit/watchtower/explain.test.ts"];
const LOG = ["test/unit/watchtower/user-log.test.ts"];
const DRILL = ["test/unit/signer/exit-drill.test.ts"];
const explain = "src/watchtower/explain.ts";

/** Lines by which a watchtower misses nothing, and a signer tells whether its keys' owners could leave. */
export const WATCHTOWER_MUTANTS: readonly Mutant[] = [
  {
    name: "one request of the log explains every signature of its message",
    file: explain,
    find: "!request.isUsed && fits",
    replace: "fits",
    tests: EXPLAIN,
  },
  {
    name: "a repeated line of the log is another request",
    file: explain,
    find: "if (known.has(identity)) continue;",
    replace: "",
    tests: EXPLAIN,
  },
  {
    name: "a request of the log explains signatures of every dWallet",
    file: explain,
    find: "if (dwalletId !== undefined && dwalletId !== sighting.dwalletId) return false;",
    replace: "",
    tests: EXPLAIN,
  },
  {
    name: "a line of the outcome counts as another request",
    file: "src/watchtower/user-log.ts",
    find: ' || outcome !== "requested"',
    replace: "",
    tests: LOG,
  },
  {
    name: "a dWallet that the service no longer lists is not watched",
    file: "src/watchtower/watched-dwallets.ts",
    find: "    async refresh() {\n",
    replace: "    async refresh() {\n      ofService.clear();\n",
    tests: LOG,
  },
  {
    name: "a refused exit counts as shown",
    file: "src/signer/exit-drill.ts",
    find: 'outcome === "could_leave" ? now',
    replace: 'outcome !== "left" ? now',
    tests: DRILL,
  },
  {
    name: "a rehearsal that showed nothing is reported",
    file: "src/signer/exit-drill.ts",
    find: '(outcome === "could_leave" || outcome === "refused")',
    replace: '(outcome !== "left")',
    tests: DRILL,
  },
];
