/** The Move tests of the Treasury pass, and notice every check that is taken out of it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { readFake } from "../../../tools/move/dependencies.ts";
import { readMoveFiles } from "../../../tools/move/move-files.ts";
import { SCENARIOS } from "../../../tools/move/scenarios.ts";
import { type MoveTestReport, testTreasury } from "../../../tools/move/test-treasury.ts";
import { ROOT } from "../../support/source-files.ts";

const SOURCE = "sources/treasury.move";
const treasury = readMoveFiles(path.join(ROOT, "move/treasury"));
const source = treasury[SOURCE]!;
const network = readFileSync(path.join(ROOT, "move/fakes/tests/network.move"), "utf8");

function run(changed = source): Promise<MoveTestReport> {
  return testTreasury({
    treasury: { ...treasury, [SOURCE]: changed },
    network,
    scenarios: SCENARIOS,
    read: readFake,
  });
}

/** Every statement that refuses something, and where it starts. */
const CHECKS = [...source.matchAll(/^ {4}assert!\([^;]*;\n/gm)].map(
  ({ 0: check, index }) =>
    [check.trim(), source.slice(0, index) + source.slice(index + check.length)] as const,
);

describe("the Move tests", () => {
  it("pass, one for each scenario", async () => {
    const { isPassed, output } = await run();
    expect(output).toContain(`Total tests: ${SCENARIOS.length}; passed: ${SCENARIOS.length}; failed: 0`);
    expect(isPassed).toBe(true);
  });

  it("meet every abort code of the Treasury", () => {
    const codes = [...source.matchAll(/^const E\w+: u64 = (\d+);/gm)].map(([, code]) => `treasury ${code}`);
    expect(codes.length).toBeGreaterThan(0);
    const met = new Set(SCENARIOS.map(({ fails }) => fails as string));
    expect(codes.filter((code) => !met.has(code))).toEqual([]);
  });

  it("call every public function of the Treasury", () => {
    const [code = ""] = source.split("// === Tests ===");
    const names = [...code.matchAll(/^public fun (\w+)/gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(0);
    const world = treasury["tests/world.move"]!;
    expect(names.filter((name) => !new RegExp(`\\.${name}\\(`).test(world))).toEqual([]);
  });

  it.each(CHECKS)("fail without %s", async (_check, rest) => {
    expect((await run(rest)).isPassed).toBe(false);
  });

  it.each([
    ["an event names another sum", "sui: sui_before - sui.value()", "sui: sui_before"],
    ["a batch is counted once", "else each * count", "else each"],
    ["the order of a batch turns", "    sessions.reverse();\n", ""],
    ["a revoked operator stays", "    self.operators.remove(&operator_cap_id);\n", ""],
    ["a pause does nothing", "self.paused = paused;", "self.paused = self.paused;"],
  ])("fail when %s", async (_what, from, to) => {
    expect(source).toContain(from);
    expect((await run(source.replace(from, to))).isPassed).toBe(false);
  });

  it("are refused when they do not compile", async () => {
    await expect(run(source.replace("self.paused = paused;", "self.paused = 1;"))).rejects.toThrow("paused");
  });
});
