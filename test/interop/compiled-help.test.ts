import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describeAll } from "../../src/cli/command-line/help.ts";
import { compiledProgram } from "../support/environment.ts";

it("the compiled command prints the help that the sources make from its commands", async () => {
  const program = compiledProgram.read()!;
  const { stdout } = await promisify(execFile)(process.execPath, [program, "help"]);
  expect(stdout).toBe(`${await describeAll()}\n`);
});
