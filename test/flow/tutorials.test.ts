/**
 * The tutorials' changes, made in a copy of the repository: they compile. The nightly run also checks the whole copy and
 * runs the tutorials' own tests.
 */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runProgram } from "../interop/run-program.ts";
import { environment } from "../support/environment.ts";
import { copyCheckout } from "../support/repository/copy-checkout.ts";
import { ROOT, sourcesBelow } from "../support/repository/source-files.ts";
import { tutorialChanges, withChange } from "../support/repository/tutorial.ts";

const changes = sourcesBelow(["docs/tutorials"], [".md"]).flatMap((file) => tutorialChanges(file.path));
const files = [...new Set(changes.map(({ file }) => file))];
const copy = mkdtempSync(path.join(tmpdir(), "tutorial-"));
const PATIENT = { folder: copy, timeoutMs: 500_000 };

beforeAll(async () => {
  copyCheckout(copy);
  ownPackages();
  for (const change of changes) {
    const file = path.join(copy, change.file);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, withChange(existsSync(file) ? readFileSync(file, "utf8") : undefined, change));
  }
  await run("buf", "generate");
  await run("buf", "generate", "--template", "buf.gen.client.yaml");
});
afterAll(() => rmSync(copy, { recursive: true }));

it("the changes of the tutorials compile, each on top of the other", async () => {
  const include = files.filter((file) => file.endsWith(".ts"));
  writeFileSync(
    path.join(copy, "tsconfig.tutorial.json"),
    JSON.stringify({ extends: "./tsconfig.json", include }),
  );
  expect(include.length).toBeGreaterThan(5);
  await run("tsc", "-p", "tsconfig.tutorial.json");
});

if (environment.isReference) {
  it("the result compiles as a whole, and the tests of the tutorials pass", async () => {
    await run("prisma", "generate");
    await run("tsc");
    await run("vitest", "run", ...files.filter((file) => file.endsWith(".test.ts")));
  });
}

/** Runs a program of the packages in the copy. */
async function run(program: string, ...argv: readonly string[]): Promise<void> {
  const place = path.join(copy, "node_modules/.bin", program);
  const { code, out, err } = await runProgram(place, argv, "", {}, PATIENT);
  expect({ program, code, said: code === 0 ? "" : `${out.toString()}${err}` }).toEqual({
    program,
    code: 0,
    said: "",
  });
}

/** Links the packages without their cache, which has a database of this schema. The copy has another schema. */
function ownPackages(): void {
  const linked = path.join(copy, "node_modules");
  rmSync(linked);
  mkdirSync(linked);
  for (const name of readdirSync(path.join(ROOT, "node_modules")).filter((name) => name !== ".cache"))
    symlinkSync(path.join(ROOT, "node_modules", name), path.join(linked, name));
}
