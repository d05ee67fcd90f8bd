/** Compares the command's tables with the Move sources of the Treasury. */
import { expect, it } from "vitest";
import { explainFailure } from "../../../../src/cli/treasury/run-change.ts";
import { TREASURY_FUNCTIONS } from "../../../../src/cli/treasury/treasury-functions.ts";
import { readSource } from "../../../support/repository/source-files.ts";

const MODULES = ["treasury", "operators", "roles", "custody"] as const;
const sourceOf = (module: string) => readSource(`move/treasury/sources/${module}.move`).text;

/** Move's types by the kinds of the table. */
const TYPES: Readonly<Record<string, string>> = {
  address: "address",
  role: "address",
  id: "ID",
  ids: "vector<ID>",
  flag: "bool",
  count: "u64",
  epoch: "u64",
  ika: "u64",
  sui: "u64",
  operation: "u8",
  curve: "u32",
  algorithm: "u32",
  bytes: "vector<u8>",
  ikaCoin: "Coin<IKA>",
  suiCoin: "Coin<SUI>",
  received: "Receiving",
};

it.each(Object.entries(TREASURY_FUNCTIONS))("%s has the table's parameters in Move", (name, known) => {
  const [, text = ""] =
    new RegExp(`public fun ${name}\\(([^)]*)\\)`).exec(sourceOf("treasury").replaceAll(/\s+/g, " ")) ?? [];
  const parameters = text
    .split(", ")
    .map((one) => one.trim().replace(/,$/, ""))
    .filter((one) => one !== "" && !/TxContext|&mut Treasury/.test(one));
  const isAdmin = parameters[0] === "admin: &AdminCap";
  expect(isAdmin).toBe(known.caller === "admin");
  const types = parameters
    .slice(isAdmin ? 1 : 0)
    .map((one) => one.split(": ")[1]?.replace(/^Receiving<.*/, "Receiving"));
  expect(types).toEqual(Object.values(known.parameters).map((kind) => TYPES[kind]));
});

it.each(MODULES)("every abort of %s has an explanation", (module) => {
  const codes = [...sourceOf(module).matchAll(/^const E\w+: u64 = (\d+);/gm)].map(([, code]) => Number(code));
  expect(codes.length).toBeGreaterThan(3);
  for (const code of codes) {
    const text = explainFailure({ kind: "MoveAbort", message: "unexplained", abort: { module, code } });
    expect(text).toContain(`(${module}, code ${code})`);
    expect(text).not.toContain("unexplained");
  }
  const beyond = explainFailure({ kind: "MoveAbort", message: "other", abort: { module, code: 99 } });
  expect(beyond).toContain("aborts with code 99: other");
});
