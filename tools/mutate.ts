/**
 * Changes one deciding line at a time in a copy of the sources and runs the tests that must fail:
 * `npm run mutate [-- --only TEXT --only TEXT] [--jobs 1]`. Exits with 1 if a mutant survives, or if tests fail without
 * a mutant. Mutants are in `tools/mutate/mutants.ts`. Race tests need PostgreSQL.
 */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs, stripVTControlCharacters } from "node:util";
import { copyCheckout } from "../test/support/repository/copy-checkout.ts";
import { type Mutant, mutate } from "./mutate/mutant.ts";
import { MUTANTS } from "./mutate/mutants.ts";
import { startVitest } from "./mutate/start-vitest.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [""] },
    jobs: { type: "string", default: "1" },
  },
});
/** A mutant may make a test hang; that counts as detected. */
const TIMEOUT_MS = 300_000;

const waiting = MUTANTS.filter(({ name, file }) =>
  values.only.some((text) => `${file} ${name}`.includes(text)),
);
const total = waiting.length;
const survivors: Mutant[] = [];
let done = 0;
await withCopy(async (folder) => {
  const tests = [...new Set(waiting.flatMap((mutant) => mutant.tests))];
  // All files run together here, and a mutant runs few of them.
  const failure = await firstFailure(folder, tests, TIMEOUT_MS * tests.length);
  if (failure !== undefined) throw new Error(`the tests fail without any mutant: ${failure}`);
});
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
console.log(`${total - survivors.length} killed, ${survivors.length} survived`);
process.exitCode = survivors.length === 0 ? 0 : 1;

async function work(): Promise<void> {
  await withCopy(async (folder) => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const file = path.join(folder, mutant.file);
      const original = readFileSync(file, "utf8");
      writeFileSync(file, mutate(original, mutant));
      const failure = await firstFailure(folder, mutant.tests);
      writeFileSync(file, original);
      if (failure === undefined) survivors.push(mutant);
      console.log(
        `${++done}/${total} ${failure === undefined ? "SURVIVED" : "killed"}: ${mutant.file}: ${mutant.name}`,
      );
      if (failure !== undefined) console.log(`  by ${failure}`);
    }
  });
}

async function withCopy(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), "mutate-"));
  try {
    copyCheckout(folder);
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Returns the first failing test with its file; undefined if all pass. Throws if a run finds no test file, because that
 * would look like a kill.
 */
async function firstFailure(
  folder: string,
  tests: readonly string[],
  timeoutMs = TIMEOUT_MS,
): Promise<string | undefined> {
  const { child, kill } = startVitest(folder, ["--bail", "1", ...tests]);
  const timer = setTimeout(kill, timeoutMs);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
  const [code] = (await once(child, "close")) as [number | null];
  clearTimeout(timer);
  if (said.includes("No test files found")) throw new Error(`no tests in ${tests.join(", ")}`);
  if (code === 0) return undefined;
  return (
    /FAIL +(.*)/.exec(stripVTControlCharacters(said))?.[1] ??
    (code === null ? "waiting for ever" : `exit code ${code}`)
  );
}
