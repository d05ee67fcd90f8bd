import type { Failure, Scenario, Step } from "./scenario.ts";
import { OPERATIONS, unitsOf } from "./scenario.ts";

/** What a session costs in the Move tests: the constants of the fake coordinator. */
const PRICE = { ika: 20n, sui: 4n } as const;

/** Returns a Move module with one test for each scenario, over `treasury::world`. */
export function scenarioTests(scenarios: readonly Scenario[]): string {
  const tests = scenarios.map(({ name, steps, fails }) => {
    const attribute = fails === undefined ? "#[test]" : `#[test, expected_failure(${expectation(fails)})]`;
    const lines = ["let mut w = world::begin();", ...steps.map(lineOf), "w.end();"];
    return [attribute, `fun ${testName(name)}() {`, ...lines.map((line) => `    ${line}`), "}"].join("\n");
  });
  return ["#[test_only]", "module treasury::scenario_tests;", "use treasury::world;", ...tests, ""].join(
    "\n",
  );
}

/** Returns the name of a scenario as Move writes it. */
export function testName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}

function expectation(fails: Failure): string {
  const [module = "", code = ""] = fails.split(" ");
  return `abort_code = ${code}, location = ${LOCATIONS[module] ?? "ika_dwallet_2pc_mpc"}::${module}`;
}

/** Where modules are that are not of Ika's package. */
const LOCATIONS: Readonly<Record<string, string>> = { treasury: "treasury", dynamic_field: "sui" };

/** Whether the caller uses what is this Treasury's own. */
const isOwn = (which: string | undefined) => which === undefined || which === "own" || which === "last";

function lineOf(step: Step): string {
  switch (step.do) {
    case "presigns": {
      const { cap, networkKey, curve = 0, algorithm = 0, count = 1, sessions = "fresh" } = step;
      const spoil = sessions === "fresh" ? "" : `s.pop_back(); s.push_back(${SESSIONS[sessions]}); `;
      const args = `${isOwn(cap)}, ${isOwn(networkKey)}, ${curve}, ${algorithm}, s`;
      return `let mut s = w.fresh_sessions(${count}); ${spoil}w.pay_presigns(${args});`;
    }
    case "dkg": {
      const { cap, networkKey, curve = 0, keyCurve = curve } = step;
      const user = keyCurve === "none" ? "world::nobody()" : `w.user(${keyCurve})`;
      return `let u = ${user}; ${sessionLine(step.sessions)} w.pay_dkg(${isOwn(cap)}, ${isOwn(networkKey)}, ${curve}, u, s);`;
    }
    case "sign": {
      const { cap, curve = 0, algorithm = 0, hash = 0 } = step;
      const dwallet = isOwn(step.dwallet) ? "w.last_dwallet()" : "world::unknown()";
      const presign = isOwn(step.presign) ? "w.last_presign()" : "world::unknown()";
      return `let (d, p) = (${dwallet}, ${presign}); ${sessionLine(step.sessions)} w.pay_sign(${isOwn(cap)}, d, p, ${curve}, ${algorithm}, ${hash}, s);`;
    }
    case "complete presign":
      return "w.complete_presign();";
    case "activate dwallet":
      return "w.activate_dwallet();";
    case "pause curve":
      return `w.pause_curve(${step.curve});`;
    case "coordinator moves":
      return "w.move_on();";
    case "treasury version":
      return `w.set_version(${step.version});`;
    case "migrate":
      return `w.migrate(${isOwn(step.admin)});`;
    case "deposit":
      return `w.deposit(${unitsOf(step.amount.ika, PRICE.ika)}, ${unitsOf(step.amount.sui, PRICE.sui)});`;
    case "new operator":
      return `w.new_operator(${isOwn(step.admin)});`;
    case "revoke operator":
      return `w.revoke_operator(${isOwn(step.admin)}, ${isOwn(step.operator)});`;
    case "ceiling": {
      const { admin, op, curve = 0, algorithm = 0, amount } = step;
      const units = `${unitsOf(amount.ika, PRICE.ika)}, ${unitsOf(amount.sui, PRICE.sui)}`;
      return `w.set_ceiling(${isOwn(admin)}, ${OPERATIONS.indexOf(op)}, ${curve}, ${algorithm}, ${units});`;
    }
    case "pause":
      return `w.set_paused(${isOwn(step.admin)}, ${step.paused});`;
    case "release dwallet":
      return `let d = ${isOwn(step.dwallet) ? "w.last_dwallet()" : "world::unknown()"}; w.release_dwallet(${isOwn(step.admin)}, d);`;
    case "release presign":
      return `let p = ${isOwn(step.presign) ? "w.last_presign()" : "world::unknown()"}; w.release_presign(${isOwn(step.admin)}, p);`;
    case "drain nothing":
      return `w.drain(${isOwn(step.admin)}, 0, 0);`;
    case "keep":
      return `w.keep(${unitsOf(step.amount.ika, PRICE.ika)}, ${unitsOf(step.amount.sui, PRICE.sui)});`;
    case "overdraw":
      return step.coin === "ika" ? "w.overdraw(1, 0);" : "w.overdraw(0, 1);";
  }
}

function sessionLine(sessions: "fresh" | "repeated" | "short" = "fresh"): string {
  return `let s = ${SESSIONS[sessions]};`;
}

/** Session identifiers; the repeated one is that of the first session. */
const SESSIONS = { fresh: "w.fresh_session()", repeated: "world::session_of(1)", short: 'b"short"' } as const;
