import { writeSync } from "node:fs";
import { inspect } from "node:util";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with the suites that were skipped without a server, the errors outside tests, and a last line with
 * counts for scripts: `12 passed, 0 failed, 3 skipped`. A file that does not load and an error outside a test count as
 * failed. A run that SIGTERM ends, because it exceeds a time limit, says which files had not ended.
 */
export default class SummaryReporter implements Reporter {
  readonly #notices = new Set<string>();
  readonly #running = new Set<TestModule>();
  readonly #ended: TestModule[] = [];

  onInit(): void {
    process.once("SIGTERM", () => {
      writeSync(1, this.linesWhenStopped().join(""));
      process.exit(1);
    });
  }

  onUserConsoleLog({ content }: { readonly content: string }): void {
    for (const line of content.split("\n")) if (line.startsWith("skipped: ")) this.#notices.add(line);
  }

  onTestModuleStart(module: TestModule): void {
    this.#running.add(module);
  }

  onTestModuleEnd(module: TestModule): void {
    this.#running.delete(module);
    this.#ended.push(module);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    // In a long log, the place of such an error is hard to find.
    const outside = unhandledErrors.map((error) => {
      const { stack } = error as { stack?: unknown };
      return `error outside a test: ${(typeof stack === "string" ? stack : inspect(error)).slice(0, 1_500)}`;
    });
    const lines = [...this.#notices, ...outside, countsOf(modules, unhandledErrors.length)];
    // Writes at exit, because other reporters write after this one.
    process.once("exit", () => writeSync(1, lines.map((line) => `${line}\n`).join("")));
  }

  /** The end of a run that did not end by itself. Each file that had not ended counts as failed. */
  linesWhenStopped(): string[] {
    const running = [...this.#running].map((module) => `not ended: ${module.relativeModuleId}\n`);
    return ["\n", ...running, `${countsOf(this.#ended, Math.max(1, running.length))}\n`];
  }
}

function countsOf(modules: readonly TestModule[], moreFailed: number): string {
  const states = modules.flatMap((module) =>
    [...module.children.allTests()].map((test) => test.result().state),
  );
  const count = (state: string): number => states.filter((found) => found === state).length;
  const failed = count("failed") + modules.flatMap((module) => module.errors()).length + moreFailed;
  const skipped = count("skipped") + count("pending");
  return `${count("passed")} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}
