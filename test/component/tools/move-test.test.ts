/** The Move tests of the Treasury pass, and notice every check that is taken out of it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readFake } from "../../../tools/move/dependencies.ts";
import { type MoveFiles, readMoveFiles } from "../../../tools/move/move-files.ts";
import { type ScenarioRun, testName } from "../../../tools/move/scenario-tests.ts";
import { SCENARIOS } from "../../../tools/move/scenarios.ts";
import { type MoveTestReport, testTreasury } from "../../../tools/move/test-treasury.ts";
import { ROOT } from "../../support/source-files.ts";

const treasury = readMoveFiles(path.join(ROOT, "move/treasury"));
const network = readFileSync(path.join(ROOT, "move/fakes/tests/network.move"), "utf8");
const sources = Object.entries(treasury).filter(([name]) => name.startsWith("sources/"));

function run(changed: MoveFiles, scenarios: readonly ScenarioRun[] = SCENARIOS): Promise<MoveTestReport> {
  return testTreasury({ treasury: { ...treasury, ...changed }, network, scenarios, read: readFake });
}

/** A statement that refuses something. */
interface Check {
  readonly module: string;
  readonly text: string;
  /** How scenarios see it refuse: `custody 1`. */
  readonly failure: string;
  /** The gas price of the transactions in which it refuses nothing. */
  readonly gasPrice: number;
}

const CHECKS: Check[] = [];
/** The sources, in which each check holds for one gas price less than the others. */
const WITHOUT_CHECKS: MoveFiles = Object.fromEntries(
  sources.map(([file, source]) => {
    const module = path.basename(file, ".move");
    const codes = codesOf(source);
    const changed = source.replace(
      /assert!\(([^;]*), (E\w+)\);/g,
      (text, condition: string, code: string) => {
        const gasPrice = 1_000 + CHECKS.length;
        CHECKS.push({ module, text, failure: `${module} ${codes.get(code)}`, gasPrice });
        return `assert!((${condition}) || sui::tx_context::gas_price_for_testing() == ${gasPrice}, ${code});`;
      },
    );
    return [file, changed];
  }),
);

/** A gas price at which every check holds. */
const NO_CHECKS_PRICE = 999;

/** The abort codes of a module by their names. */
function codesOf(source: string): ReadonlyMap<string, string> {
  return new Map(
    [...source.matchAll(/^const (E\w+): u64 = (\d+);/gm)].map(([, name, code]) => [name!, code!]),
  );
}

describe("the Move tests", () => {
  it("pass, one for each scenario", async () => {
    const { isPassed, output } = await run({});
    expect(output).toContain(`Total tests: ${SCENARIOS.length}; passed: ${SCENARIOS.length}; failed: 0`);
    expect(isPassed).toBe(true);
  });

  it("meet every abort code of the Treasury", () => {
    const codes = sources.flatMap(([file, source]) =>
      [...codesOf(source).values()].map((code) => `${path.basename(file, ".move")} ${code}`),
    );
    expect(codes.length).toBeGreaterThan(20);
    const met = new Set(SCENARIOS.map(({ fails }) => fails as string));
    expect(codes.filter((code) => !met.has(code))).toEqual([]);
  });

  it("call every public function of the Treasury", () => {
    const [code = ""] = treasury["sources/treasury.move"]!.split("// === Tests ===");
    const names = [...code.matchAll(/^public fun (\w+)/gm)].map(([, name]) => name!);
    expect(names.length).toBeGreaterThan(30);
    const world = treasury["tests/world.move"]!;
    expect(names.filter((name) => !new RegExp(`\\.${name}(_for_testing)?\\(`).test(world))).toEqual([]);
  });

  describe("fail", () => {
    let output: string;
    beforeAll(async () => {
      const runs = CHECKS.flatMap(({ failure, gasPrice }) =>
        SCENARIOS.filter(({ fails }) => fails === failure).map((scenario): ScenarioRun => {
          return { ...scenario, name: `${gasPrice} ${scenario.name}`, gasPrice };
        }),
      );
      const all = SCENARIOS.map((scenario) => ({ ...scenario, name: `${NO_CHECKS_PRICE} ${scenario.name}` }));
      const named = [...runs, ...all].map((scenario) => ({ ...scenario, name: `at ${scenario.name}` }));
      ({ output } = await run(WITHOUT_CHECKS, named));
    });

    const failedAt = (gasPrice: number) => {
      const failed = [...output.matchAll(/\[ FAIL +\] \S+::(\w+)/g)].map(([, name]) => name!);
      return failed.filter((name) => name.startsWith(testName(`at ${gasPrice} `)));
    };

    it.each(CHECKS)("without $text of $module", ({ gasPrice }) => {
      expect(failedAt(gasPrice)).not.toEqual([]);
    });

    it("at no other gas price", () => {
      expect(output).toContain(`::${testName(`at ${NO_CHECKS_PRICE} `)}`);
      expect(failedAt(NO_CHECKS_PRICE)).toEqual([]);
    });
  });

  it.each([
    ["an event names another sum", "treasury", "sui: sui_before - sui.value()", "sui: sui_before"],
    ["a batch is counted once", "treasury", "else each * count", "else each"],
    ["the order of a batch turns", "treasury", "    sessions.reverse();\n", ""],
    ["a pause does nothing", "treasury", "self.paused = paused;", "self.paused = self.paused;"],
    ["a revoked operator stays", "operators", "    self.all.pop_back();\n", ""],
    ["an epoch brings no new limits", "operators", "operator.epoch != ctx.epoch()", "false"],
    ["a former AdminCap stays", "roles", "    self.admin_cap_id = object::id(&cap);\n", ""],
    ["a replaced recovery holder's offer stays", "roles", "self.offer.borrow().is_recovery", "false"],
    ["an offer ends with the recovery holder", "roles", " && self.offer.borrow().is_recovery", ""],
    ["a consent is not counted", "custody", "    *nonce = *nonce + 1;\n", ""],
    ["a refusal forgets the release", "custody", "    dwallet.release = option::none();\n", ""],
  ])("fail when %s", async (_what, module, from, to) => {
    const file = `sources/${module}.move`;
    const source = treasury[file]!;
    expect(source).toContain(from);
    expect((await run({ [file]: source.replace(from, to) })).isPassed).toBe(false);
  });

  it("are refused when they do not compile", async () => {
    const file = "sources/treasury.move";
    const changed = treasury[file]!.replace("self.paused = paused;", "self.paused = 1;");
    await expect(run({ [file]: changed })).rejects.toThrow("paused");
  });
});
