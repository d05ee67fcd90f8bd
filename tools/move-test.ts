/** `npm run move:test`: runs the Move tests of the Treasury against the fakes. Exit code 1 if one of them fails. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { readFake } from "./move/dependencies.ts";
import { readMoveFiles } from "./move/move-files.ts";
import { SCENARIOS } from "./move/scenarios.ts";
import { testTreasury } from "./move/test-treasury.ts";

const MOVE = path.resolve(import.meta.dirname, "../move");

const { isPassed, output } = await testTreasury({
  treasury: readMoveFiles(path.join(MOVE, "treasury")),
  network: readFileSync(path.join(MOVE, "fakes/tests/network.move"), "utf8"),
  scenarios: SCENARIOS,
  read: readFake,
});
console.log(output);
process.exitCode = isPassed ? 0 : 1;
