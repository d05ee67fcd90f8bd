import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { startVitest } from "../start-vitest.ts";

/** One generated test file: a test file, with a mutant switched on or with none. */
export interface Trial {
  readonly name: string;
  readonly testFile: string;
  /** Code that runs before the test file is imported, with the functions of `in-test.ts` in scope; it defines `isOn`. */
  readonly before: string;
  /** Code that runs when it is loaded. */
  readonly after?: string;
}

/** What became of a generated test file. */
export interface Verdict {
  readonly name: string;
  readonly failed: boolean;
  /** The first failure. */
  readonly by?: string;
}

/**
 * Runs generated test files in one process that loads the sources once, one after the other, or with `isolate` each
 * with sources of its own. Where a file never ends, the process is killed: its verdict is a failure, and the files
 * after it have none.
 */
export async function runBatch(
  copy: string,
  trials: readonly Trial[],
  { isolate = false, stuckMs = STUCK_MS, testTimeoutMs = TEST_TIMEOUT_MS }: BatchOptions = {},
): Promise<Map<string, Verdict>> {
  if (trials.length === 0) return new Map();
  const folder = path.join(copy, "mutants");
  const output = path.join(folder, "verdicts.jsonl");
  rmSync(path.join(folder, "trials"), { recursive: true, force: true });
  rmSync(output, { force: true });
  mkdirSync(path.join(folder, "trials"), { recursive: true });
  for (const [index, trial] of trials.entries())
    writeFileSync(path.join(folder, "trials", `${trial.name}.test.ts`), trialText(trial, index));
  writeFileSync(path.join(copy, "mutants.config.ts"), configText({ isolate, testTimeoutMs, output }));
  const { child, kill } = startVitest(copy, ["--config", "mutants.config.ts"]);
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-4000);
    });
  let known = 0;
  let quietMs = 0;
  const watch = setInterval(() => {
    const count = readVerdicts(output).size;
    quietMs = count > known ? 0 : quietMs + WATCH_MS;
    known = count;
    if (quietMs > stuckMs) kill();
  }, WATCH_MS);
  await once(child, "close");
  clearInterval(watch);
  const verdicts = readVerdicts(output);
  const next = trials.find(({ name }) => !verdicts.has(name));
  if (next !== undefined) {
    if (quietMs <= stuckMs && verdicts.size === 0 && trials.length > 1)
      throw new Error(`vitest ended without a verdict: ${said}`);
    verdicts.set(next.name, { name: next.name, failed: true, by: "never ending" });
  }
  return verdicts;
}

export interface BatchOptions {
  /** Gives each file sources of its own. Default false. */
  readonly isolate?: boolean;
  /** After this time without a verdict, a file never ends. Default 3 minutes. */
  readonly stuckMs?: number;
  /** Default 30 s. */
  readonly testTimeoutMs?: number;
}

const WATCH_MS = 1000;
/** Longer than any test file takes. */
const STUCK_MS = 180_000;
const TEST_TIMEOUT_MS = 30_000;

function readVerdicts(output: string): Map<string, Verdict> {
  if (!existsSync(output)) return new Map();
  const lines = readFileSync(output, "utf8").split("\n").slice(0, -1);
  return new Map(lines.map((line) => JSON.parse(line) as Verdict).map((verdict) => [verdict.name, verdict]));
}

function trialText({ testFile, before, after = "" }: Trial, index: number): string {
  // The query makes the test file a module of its own each time.
  return `import { switchOn, watchCoverage } from "../../tools/mutate/rooms/in-test.ts";
${before}
if (isOn) await import("../../${testFile}?trial=${index}");
${after}
`;
}

function configText({
  isolate,
  testTimeoutMs,
  output,
}: Required<Pick<BatchOptions, "isolate" | "testTimeoutMs">> & { readonly output: string }): string {
  return `import { defineConfig } from "vitest/config";
import { BaseSequencer } from "vitest/node";
class ByName extends BaseSequencer {
  async sort(files) {
    return files.sort((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
  }
}
export default defineConfig({
  resolve: {
    alias: [{ find: /^sql-template-tag$/, replacement: import.meta.dirname + "/tools/mutate/rooms/mutating-sql.ts" }],
  },
  test: {
    include: ["mutants/trials/*.test.ts"],
    reporters: [["./tools/mutate/rooms/verdict-reporter.ts", { output: ${JSON.stringify(output)} }]],
    sequence: { sequencer: ByName },
    isolate: ${isolate},
    maxWorkers: 1,
    testTimeout: ${testTimeoutMs},
    hookTimeout: 120_000,
    dangerouslyIgnoreUnhandledErrors: true,
  },
});
`;
}
