/** What a generated test file does around the test file that it imports, in a run of mutants. */
import { writeFileSync } from "node:fs";
import { afterAll, beforeEach, it, type TestContext } from "vitest";

/** The covered switches of a test file: by its modules while they load, by its hooks, and by test. */
export interface Coverage {
  readonly loading: string[];
  readonly hooks: string[];
  readonly tests: Readonly<Record<string, string[]>>;
  readonly durationMs: number;
}

/** Notes which switches a test file passes. Returns what to call when the file is loaded. */
export function watchCoverage(output: string): () => void {
  const startedAtMs = performance.now();
  let loading: string[] = [];
  // The test files before this one ran in the same process.
  Object.assign(covered(), { static: {}, perTest: {} });
  beforeEach((context) => {
    state().currentTestId = nameOf(context);
    return () => {
      delete state().currentTestId;
    };
  });
  afterAll(() => {
    const { static: hooks, perTest } = covered();
    const tests = Object.fromEntries(Object.entries(perTest).map(([test, ids]) => [test, Object.keys(ids)]));
    const durationMs = performance.now() - startedAtMs;
    const coverage: Coverage = { loading, hooks: Object.keys(hooks), tests, durationMs };
    writeFileSync(output, JSON.stringify(coverage));
  });
  return () => {
    loading = Object.keys(covered().static);
    covered().static = {};
  };
}

/**
 * Switches a mutant on for one test file, and skips the tests that do not pass it and those after a failure. Returns
 * false, with nothing to do, if an earlier test file of this process has killed it.
 */
export function switchOn(id: string, tests: readonly string[] | undefined): boolean {
  const killed = killedHere();
  if (killed.has(id)) {
    it("was killed", () => {});
    return false;
  }
  const wanted = tests && new Set(tests);
  let isOver = false;
  let rejection: unknown;
  const onRejection = (reason: unknown): void => {
    rejection ??= reason ?? "without a reason";
  };
  set(id);
  process.on("unhandledRejection", onRejection);
  beforeEach((context) => {
    if (isOver || wanted?.has(nameOf(context)) === false) context.skip();
    context.onTestFailed(() => {
      isOver = true;
      if (id !== NO_MUTANT) killed.add(id);
    });
  });
  afterAll(() => {
    set(undefined);
    process.off("unhandledRejection", onRejection);
    if (rejection !== undefined) throw new Error("a rejection that nothing handles", { cause: rejection });
  });
  return true;
}

/** Returns whether a mutant is switched on. */
export function isActive(id: string): boolean {
  const found = state();
  // A thread of a test takes it from the environment, as the instrumented sources do.
  found.activeMutant ??= process.env["__STRYKER_ACTIVE_MUTANT__"];
  return found.activeMutant === id;
}

/** Notes that switches were passed. */
export function noteCovered(ids: readonly string[]): void {
  const { currentTestId } = state();
  const found = covered();
  if (currentTestId !== undefined) found.perTest[currentTestId] ??= {};
  const counts = (currentTestId === undefined ? undefined : found.perTest[currentTestId]) ?? found.static;
  for (const id of ids) counts[id] = (counts[id] ?? 0) + 1;
}

/** A mutant that loops for ever passes its switch more often than any test does. */
const HITS_MAX_COUNT = 2_000_000;

/** Stands for the sources as they are. */
const NO_MUTANT = "none";

interface State {
  killed?: Set<string>;
  activeMutant?: string | undefined;
  currentTestId?: string;
  hitCount?: number | undefined;
  hitLimit?: number;
  mutantCoverage?: Covered;
}

interface Covered {
  static: Record<string, number>;
  perTest: Record<string, Record<string, number>>;
}

/** Where the instrumented sources look for the active mutant. */
function state(): State {
  const all = globalThis as { __stryker__?: State };
  all.__stryker__ ??= {};
  return all.__stryker__;
}

function killedHere(): Set<string> {
  const found = state();
  found.killed ??= new Set();
  return found.killed;
}

function covered(): Covered {
  const found = state();
  found.mutantCoverage ??= { static: {}, perTest: {} };
  return found.mutantCoverage;
}

function set(id: string | undefined): void {
  const found = state();
  found.activeMutant = id;
  found.hitCount = 0;
  found.hitLimit = HITS_MAX_COUNT;
  if (id === undefined) delete process.env["__STRYKER_ACTIVE_MUTANT__"];
  else process.env["__STRYKER_ACTIVE_MUTANT__"] = id;
}

function nameOf({ task }: TestContext): string {
  const names: string[] = [task.name];
  for (let suite = task.suite; suite !== undefined; suite = suite.suite) names.unshift(suite.name);
  return names.join(" > ");
}
