/**
 * Every function of the Treasury that changes something checks the version and the caller before anything else. The
 * Move tests cannot call the functions that send or receive objects, and call copies of them.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT } from "../../support/repository/source-files.ts";

const SOURCE = readFileSync(path.join(ROOT, "move/treasury/sources/treasury.move"), "utf8");
const [CODE = ""] = SOURCE.split("// === Tests ===");
const CHANGING = [
  ...CODE.matchAll(/^public fun (\w+)\(\s*self: &mut Treasury,?([^)]*)\)[^{]*\{\s*([^;]*;)/gm),
].map(([, name, parameters, first]) => ({ name: name!, parameters: parameters!, first: first! }));

/** Moves the Treasury from an older version to this one, and compares the versions itself. */
const MIGRATION = "migrate";

it("The test finds every function that changes the Treasury", () => {
  expect(CHANGING.map(({ name }) => name)).toContain(MIGRATION);
  expect(CHANGING).toHaveLength(CODE.match(/^public fun \w+\(\s*self: &mut Treasury/gm)!.length);
});

it.each(CHANGING)("$name begins with the check of its caller", ({ name, parameters, first }) => {
  const check = parameters.includes("admin: &AdminCap")
    ? "self.assert_admin(admin);"
    : parameters.includes("cap: &OperatorCap")
      ? "self.assert_operator(cap, ctx);"
      : "self.assert_version();";
  expect(first).toBe(name === MIGRATION ? "self.roles.check_admin(admin);" : check);
});
