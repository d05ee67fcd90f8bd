import { bytesToHex } from "@noble/hashes/utils.js";
import { addressOfBytes, u64Bytes } from "../../src/localnet/fullnode/objects/sui-types.ts";
import { blake2b256 } from "../../src/protocol/chain/sui-hash.ts";
import { signConsent, userOf } from "./consents.ts";
import {
  type Actor,
  type Consented,
  type Failure,
  LIMIT_KINDS,
  OPERATIONS,
  type Scenario,
  type Step,
  unitsOf,
} from "./scenario.ts";

/** The price of a session in the Move tests: the constants of the fake coordinator. */
const PRICE = { ika: 20n, sui: 4n } as const;

/** Returns a Move module with one test for each scenario, over `treasury::world`. */
export function scenarioTests(scenarios: readonly ScenarioRun[]): string {
  const tests = scenarios.map(({ name, steps, fails, gasPrice = 1 }) => {
    const attribute = fails === undefined ? "#[test]" : `#[test, expected_failure(${expectation(fails)})]`;
    const lines = [
      `let mut w = world::begin_at(${gasPrice});`,
      ...steps.map((step, index) => lineOf(step, dwalletsBefore(steps, index))),
      "w.end();",
    ];
    return [attribute, `fun ${testName(name)}() {`, ...lines.map((line) => `    ${line}`), "}"].join("\n");
  });
  return ["#[test_only]", "module treasury::scenario_tests;", "use treasury::world;", ...tests, ""].join(
    "\n",
  );
}

/** A scenario, and the gas price by which the tested code can recognise it. */
export interface ScenarioRun extends Scenario {
  readonly gasPrice?: number;
}

/** Returns the name of a scenario as a Move identifier. */
export function testName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "_");
}

function expectation(fails: Failure): string {
  const [module = "", code = ""] = fails.split(" ");
  return `abort_code = ${code}, location = ${LOCATIONS[module] ?? "ika_dwallet_2pc_mpc"}::${module}`;
}

/** The package of each module outside Ika's package. */
const LOCATIONS: Readonly<Record<string, string>> = {
  treasury: "treasury",
  operators: "treasury",
  roles: "treasury",
  custody: "treasury",
  dynamic_field: "sui",
};

/** Whether the caller uses this Treasury's own object. */
const isOwn = (which: string | undefined) => which === undefined || which === "own" || which === "last";

/** A step as a call of the world. `dwalletsCount` is the current number of dWallets. */
function lineOf(step: Step, dwalletsCount: number): string {
  switch (step.do) {
    case "presigns": {
      const { cap, networkKey, curve = 0, algorithm = 0, count = 1, sessions = "fresh" } = step;
      const spoil = sessions === "fresh" ? "" : `s.pop_back(); s.push_back(${SESSIONS[sessions]}); `;
      const args = `${isOwn(cap)}, ${isOwn(networkKey)}, ${curve}, ${algorithm}, s`;
      return `let mut s = w.fresh_sessions(${count}); ${spoil}w.pay_presigns(${args});`;
    }
    case "dkg": {
      const { cap, networkKey, curve = 0, keyCurve = curve } = step;
      const user =
        keyCurve === "none" ? "world::nobody()" : `w.user(@${userOf(keyCurve).address}, ${keyCurve})`;
      return `let u = ${user}; ${sessionLine(step.sessions)} w.pay_dkg(${isOwn(cap)}, ${isOwn(networkKey)}, ${curve}, u, s);`;
    }
    case "import": {
      const { cap, networkKey, curve = 0, userKey = "registered" } = step;
      const user = userKey === "none" ? "world::nobody()" : `w.user(@${userOf(curve).address}, ${curve})`;
      return `let u = ${user}; ${sessionLine(step.sessions)} w.pay_import(${isOwn(cap)}, ${isOwn(networkKey)}, ${curve}, u, s);`;
    }
    case "dwallet presigns": {
      const { cap, algorithm = 0, count = 1, sessions = "fresh" } = step;
      const spoil = sessions === "fresh" ? "" : `s.pop_back(); s.push_back(${SESSIONS[sessions]}); `;
      return `let d = ${dwalletOf(step)}; let mut s = w.fresh_sessions(${count}); ${spoil}w.pay_dwallet_presigns(${isOwn(cap)}, d, ${algorithm}, s);`;
    }
    case "sign":
    case "sign with imported key": {
      const { cap, curve = 0, algorithm = 0, hash = 0 } = step;
      const name = step.do === "sign" ? "pay_sign" : "pay_imported_key_sign";
      return `let (d, p) = (${dwalletOf(step)}, ${presignOf(step)}); ${sessionLine(step.sessions)} w.${name}(${isOwn(cap)}, d, p, ${curve}, ${algorithm}, ${hash}, s);`;
    }
    case "share": {
      const { cap, curve = 0, hasKey = true, source = step.dwallet } = step;
      const user = hasKey ? `w.user(@${userOf(0).address}, 0)` : "world::nobody()";
      return `let (d, u) = (${dwalletOf(step)}, ${user}); ${sessionLine(step.sessions)} w.pay_share(${isOwn(cap)}, ${isOwn(source)}, d, ${curve}, u, s);`;
    }
    case "future sign": {
      const { cap, curve = 0, algorithm = 0, hash = 0, epochs = 2 } = step;
      return `let (d, p) = (${dwalletOf(step)}, ${presignOf(step)}); ${sessionLine(step.sessions)} w.pay_future_sign(${isOwn(cap)}, d, p, ${curve}, ${algorithm}, ${hash}, ${epochs}, s);`;
    }
    case "partial sign": {
      const { cap, curve = 0, algorithm = 0, hash = 0, message = "same" } = step;
      return `let (d, p) = (${dwalletOf(step)}, ${presignOf(step)}); ${sessionLine(step.sessions)} w.pay_partial_sign(${isOwn(cap)}, d, p, ${curve}, ${algorithm}, ${hash}, ${message === "same"}, s);`;
    }
    case "halves":
      return `w.halves(${step.count});`;
    case "complete half":
      return "w.complete_half();";
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
      return `w.migrate(${adminOf(step)});`;
    case "deposit":
      return `w.deposit(${unitsOf(step.amount.ika, PRICE.ika)}, ${unitsOf(step.amount.sui, PRICE.sui)});`;
    case "new operator":
      return `w.new_operator(${adminOf(step)}, ${addressOf(step.holder)}, ${limitsOf(step)});`;
    case "renew operator":
      return `w.renew_operator(${adminOf(step)}, ${isOwn(step.operator)}, ${limitsOf(step)});`;
    case "revoke operator":
      return `w.revoke_operator(${adminOf(step)}, ${isOwn(step.operator)});`;
    case "epochs pass":
      return `w.pass(${step.count});`;
    case "act as":
      return `w.act_as(${addressOf(step.who)});`;
    case "pause as pauser":
      return "w.pause();";
    case "set roles":
      return `w.set_roles(${adminOf(step)}, ${roleOf(step.pauser)}, ${roleOf(step.recovery)});`;
    case "offer admin":
      return `w.offer_admin(${adminOf(step)}, ${addressOf(step.to)});`;
    case "withdraw admin offer":
      return `w.withdraw_admin_offer(${adminOf(step)});`;
    case "accept admin":
      return "w.accept_admin();";
    case "recover admin":
      return `w.recover_admin(${addressOf(step.to)});`;
    case "leave":
      return `w.leave(${consentOf("leave", step, dwalletsCount)});`;
    case "refuse release":
      return `w.refuse_release(${consentOf("refuse", step, dwalletsCount)});`;
    case "announce successor":
      return `w.announce_successor(${adminOf(step)});`;
    case "withdraw successor":
      return `w.withdraw_successor(${adminOf(step)});`;
    case "announce release":
    case "withdraw release":
    case "release dwallet":
      return `let d = ${dwalletOf(step)}; w.${step.do.replace(" ", "_")}(${adminOf(step)}, d);`;
    case "release presign":
      return `let p = ${presignOf(step)}; w.release_presign(${adminOf(step)}, p);`;
    case "move dwallet":
      return `let d = ${dwalletOf(step)}; w.move_dwallets(${adminOf(step)}, vector[d]);`;
    case "move presign":
      return `let p = ${presignOf(step)}; w.move_presigns(${adminOf(step)}, vector[p]);`;
    case "take in dwallet":
      return `w.take_in_dwallet(${adminOf(step)}, 0, @${userOf(0).address});`;
    case "take in imported key":
      return `w.take_in_imported_key(${adminOf(step)}, 0, @${userOf(0).address});`;
    case "take in presign":
      return `w.take_in_presign(${adminOf(step)});`;
    case "ceiling": {
      const { op, curve = 0, algorithm = 0, amount } = step;
      const units = `${unitsOf(amount.ika, PRICE.ika)}, ${unitsOf(amount.sui, PRICE.sui)}`;
      return `w.set_ceiling(${adminOf(step)}, ${OPERATIONS.indexOf(op)}, ${curve}, ${algorithm}, ${units});`;
    }
    case "pause":
      return `w.set_paused(${adminOf(step)}, ${step.paused});`;
    case "drain nothing":
      return `w.drain(${adminOf(step)}, 0, 0);`;
    case "keep":
      return `w.keep(${unitsOf(step.amount.ika, PRICE.ika)}, ${unitsOf(step.amount.sui, PRICE.sui)});`;
    case "overdraw":
      return step.coin === "ika" ? "w.overdraw(1, 0);" : "w.overdraw(0, 1);";
  }
}

function sessionLine(sessions: "fresh" | "repeated" | "short" = "fresh"): string {
  return `let s = ${SESSIONS[sessions]};`;
}

/** Session identifiers. The repeated one is that of the first session. */
const SESSIONS = { fresh: "w.fresh_session()", repeated: "world::session_of(1)", short: 'b"short"' } as const;

const ADMINS = ["own", "foreign", "first"] as const;
const adminOf = ({ admin = "own" }: { readonly admin?: (typeof ADMINS)[number] }) => ADMINS.indexOf(admin);
const dwalletOf = (step: { readonly dwallet?: string }) =>
  isOwn(step.dwallet) ? "w.last_dwallet()" : "world::unknown()";
const presignOf = (step: { readonly presign?: string }) =>
  isOwn(step.presign) ? "w.last_presign()" : "world::unknown()";

/** The addresses of `world.move`. */
const ADDRESSES: Readonly<Record<Actor, string>> = { "hot wallet": "@0xa11ce", stranger: "@0xb0b" };
const addressOf = (who: Actor = "hot wallet") => ADDRESSES[who];
const roleOf = (who: Actor | undefined) => (who === undefined ? "@0x0" : ADDRESSES[who]);

/** More than an operator spends in a scenario. */
const AMPLE = 1_000_000;

function limitsOf({
  expiresEpoch = AMPLE,
  limits = {},
}: Step & { do: "new operator" | "renew operator" }): string {
  const amounts = LIMIT_KINDS.map((kind) => {
    const units = limits[kind];
    return units === undefined ? AMPLE : unitsOf(units, kind === "ika" || kind === "sui" ? PRICE[kind] : 1n);
  });
  return [expiresEpoch, ...amounts].join(", ");
}

function dwalletsBefore(steps: readonly Step[], index: number): number {
  return steps.slice(0, index).filter((step) => step.do === "dkg" || step.do === "import").length;
}

function consentOf(action: "leave" | "refuse", step: Consented, dwalletsCount: number): string {
  const dwalletId = isOwn(step.dwallet) ? objectId(FIRST_DKG + dwalletsCount - 1, DWALLETS_PLACE) : UNKNOWN;
  const recipient = `0x${"b0".repeat(32)}`;
  const of = { action, treasuryId: objectId(TREASURY_TRANSACTION, 0), dwalletId, recipient };
  const { chain, nonce, expiresEpoch, publicKey, signature } = signConsent(step, of);
  const hex = (bytes: Uint8Array) => `x"${bytesToHex(bytes)}"`;
  const told = action === "leave" ? [`@${recipient}`] : [];
  const args = [`object::id_from_address(@${dwalletId})`, hex(chain), ...told, nonce, expiresEpoch];
  return [...args, hex(publicKey), hex(signature)].join(", ");
}

// The transaction numbers in `world.move`.
const TREASURY_TRANSACTION = 2;
const FIRST_DKG = 100;
/** A DKG or an import creates two coins and a session before its dWallet. */
const DWALLETS_PLACE = 3;
const UNKNOWN = "0xdead";

/** The id of an object, from the number of its transaction and its index among the created objects. */
function objectId(transaction: number, place: number): string {
  const digest = new Uint8Array(32);
  digest.set(u64Bytes(BigInt(transaction)));
  return addressOfBytes(blake2b256(Uint8Array.of(OBJECT_ID_INTENT), digest, u64Bytes(BigInt(place))));
}

const OBJECT_ID_INTENT = 0xf1;
