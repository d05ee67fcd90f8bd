/** The Treasury's Move tests pass, and fail for every check that is removed from it. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readFake } from "../../../tools/move/dependencies.ts";
import { type MoveFiles, readMoveFiles } from "../../../tools/move/move-files.ts";
import { type ScenarioRun, testName } from "../../../tools/move/scenario-tests.ts";
import { SCENARIOS } from "../../../tools/move/scenarios.ts";
import { type MoveTestReport, testTreasury } from "../../../tools/move/test-treasury.ts";
import { ROOT } from "../../support/repository/source-files.ts";

const treasury = readMoveFiles(path.join(ROOT, "move/treasury"));
const network = readFileSync(path.join(ROOT, "move/fakes/tests/network.move"), "utf8");
const sources = Object.entries(treasury).filter(([name]) => name.startsWith("sources/"));

function run(changed: MoveFiles, scenarios: readonly ScenarioRun[] = SCENARIOS): Promise<MoveTestReport> {
  return testTreasury({ treasury: { ...treasury, ...changed }, network, scenarios, read: readFake });
}

/** An assertion in the Treasury. */
interface Check {
  readonly module: string;
  readonly text: string;
  /** The failure that scenarios expect from it, such as `custody 1`. */
  readonly failure: string;
  /** The gas price of the transactions in which it is disabled. */
  readonly gasPrice: number;
}

/** Faults: the defect, the module, the expression, its replacement, and the scenario that detects it. */
const FAULTS = [
  {
    what: "an event names another sum",
    module: "treasury",
    right: "sui_before - sui.value()",
    wrong: "sui_before",
    noticed: "A ceiling above the price of the DKG costs the price",
  },
  {
    what: "a batch is counted once",
    module: "treasury",
    right: "each * count",
    wrong: "each",
    noticed: "A batch counts once for each presign against the operator's limit",
  },
  {
    what: "the order of a batch is reversed",
    module: "treasury",
    right: "sessions.reverse()",
    wrong: "()",
    noticed: "A batch counts the ceiling once for each presign",
  },
  {
    what: "a pause does nothing",
    module: "treasury",
    right: "self.paused = paused",
    wrong: "()",
    noticed: "While paused, the Treasury pays for no signature",
  },
  {
    what: "a revoked operator stays",
    module: "operators",
    right: "self.all.pop_back();",
    wrong: "()",
    noticed: "A revoked operator pays for no signature",
  },
  {
    what: "an epoch brings no new limits",
    module: "operators",
    right: "operator.epoch != ctx.epoch()",
    wrong: "false",
    noticed: "An operator's limits are for one epoch each",
  },
  {
    what: "a former AdminCap stays",
    module: "roles",
    right: "self.admin_cap_id = object::id(&cap)",
    wrong: "()",
    noticed: "A former administrator has no rights",
  },
  {
    what: "a replaced recovery holder's offer stays",
    module: "roles",
    right: "self.offer.borrow().is_recovery",
    wrong: "false",
    noticed: "The offer of a recovery holder ends when another one follows",
  },
  {
    what: "an offer ends with the recovery holder",
    module: "roles",
    right: "self.offer.borrow().is_recovery",
    wrong: "true",
    noticed: "The administrator's own offer stays when another recovery holder follows",
  },
  {
    what: "a consent is not counted",
    module: "custody",
    right: "*nonce = *nonce + 1",
    wrong: "()",
    noticed: "A consent is valid only once",
  },
  {
    what: "a refusal forgets the release",
    module: "custody",
    right: "dwallet.release = option::none()",
    wrong: "()",
    noticed: "The owner stops a release that was announced",
  },
] as const;

const CHECKS: Check[] = [];
/** The sources, with each check disabled at one gas price. */
const WITHOUT_CHECKS: MoveFiles = Object.fromEntries(
  sources.map(([file, source]) => {
    const module = path.basename(file, ".move");
    const codes = codesOf(source);
    const changed = source.replace(
      /assert!\(([^;]*), (E\w+)\);/g,
      (text, condition: string, code: string) => {
        const gasPrice = 1_000 + CHECKS.length;
        CHECKS.push({ module, text, failure: `${module} ${codes.get(code)}`, gasPrice });
        return `assert!((${condition}) || ${isAt(gasPrice)}, ${code});`;
      },
    );
    return [file, changed];
  }),
);

/** The same sources, with each fault also present at one gas price. */
const FAULTY: MoveFiles = Object.fromEntries(
  Object.entries(WITHOUT_CHECKS).map(([file, source]) => {
    const ofFile = FAULTS.map((fault, index) => ({ ...fault, gasPrice: faultPrice(index) }));
    const changed = ofFile
      .filter(({ module }) => module === path.basename(file, ".move"))
      .reduce((text, { right, wrong, gasPrice }) => {
        if (!text.includes(right)) throw new Error(`${file} has no ${right}`);
        const choice = `(if (${isAt(gasPrice)}) { ${wrong} } else { ${right} })`;
        return text.replace(right, right.endsWith(";") ? `${choice};` : choice);
      }, source as string);
    return [file, changed];
  }),
);

/** A gas price at which the sources are unchanged. */
const NO_CHANGE_PRICE = 999;

function faultPrice(index: number): number {
  return 2_000 + index;
}

/** A Move condition that holds in transactions with this gas price. */
function isAt(gasPrice: number): string {
  return `sui::tx_context::gas_price_for_testing() == ${gasPrice}`;
}

/** Returns the scenarios at a gas price, with names that begin with the price. */
function scenariosAt(gasPrice: number, scenarios: readonly ScenarioRun[]): ScenarioRun[] {
  return scenarios.map((scenario) => ({ ...scenario, name: `at ${gasPrice} ${scenario.name}`, gasPrice }));
}

/** The tests that failed at a gas price. */
function failedAt(output: string, gasPrice: number): string[] {
  const failed = [...output.matchAll(/\[ FAIL +\] \S+::(\w+)/g)].map(([, name]) => name!);
  return failed.filter((name) => name.startsWith(testName(`at ${gasPrice} `)));
}

/** The abort codes of a module by their names. */
function codesOf(source: string): ReadonlyMap<string, string> {
  return new Map(
    [...source.matchAll(/^const (E\w+): u64 = (\d+);/gm)].map(([, name, code]) => [name!, code!]),
  );
}

describe("the Move tests", () => {
  it("reach every abort code of the Treasury", () => {
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
      const expecting = (code: string) => SCENARIOS.filter(({ fails }) => fails === code);
      const detecting = (title: string) => SCENARIOS.filter(({ name }) => name === title);
      const runs = CHECKS.flatMap(({ failure, gasPrice }) => scenariosAt(gasPrice, expecting(failure)));
      const faultRuns = FAULTS.flatMap(({ noticed }, index) =>
        scenariosAt(faultPrice(index), detecting(noticed)),
      );
      // The others pass in `npm run move:test`.
      const used = new Set([
        ...CHECKS.flatMap(({ failure }) => expecting(failure)),
        ...FAULTS.flatMap(({ noticed }) => detecting(noticed)),
      ]);
      ({ output } = await run(FAULTY, [...runs, ...faultRuns, ...scenariosAt(NO_CHANGE_PRICE, [...used])]));
    });

    it.each(CHECKS)("without $text of $module", ({ gasPrice }) => {
      expect(failedAt(output, gasPrice)).not.toEqual([]);
    });

    it.each(FAULTS.map(({ what }, index) => [what, index] as const))("when %s", (_what, index) => {
      expect(failedAt(output, faultPrice(index))).toHaveLength(1);
    });

    it("at no other gas price", () => {
      expect(output).toContain(`::${testName(`at ${NO_CHANGE_PRICE} `)}`);
      expect(failedAt(output, NO_CHANGE_PRICE)).toEqual([]);
    });
  });

  it("are refused when they do not compile", async () => {
    const file = "sources/treasury.move";
    const changed = treasury[file]!.replace("self.paused = paused;", "self.paused = 1;");
    await expect(run({ [file]: changed })).rejects.toThrow("paused");
  });
});
