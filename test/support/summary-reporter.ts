import { writeSync } from "node:fs";
import { inspect } from "node:util";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends a test run with the suites that were skipped without a server, the errors outside tests, and a last line with
 * counts for scripts: `12 passed, 0 failed, 3 skipped`. A file that does not load and an error outside a test count as
 * failed.
 */
export default class SummaryReporter implements Reporter {
  readonly #notices = new Set<string>();

  onUserConsoleLog({ content }: { readonly content: string }): void {
    for (const line of content.split("\n")) if (line.startsWith("skipped: ")) this.#notices.add(line);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string): number => states.filter((found) => found === state).length;
    const broken = modules.flatMap((module) => module.errors()).length + unhandledErrors.length;
    const skipped = count("skipped") + count("pending");
    const counts = `${count("passed")} passed, ${count("failed") + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
    // In a long log, the place of such an error is hard to find.
    const outside = unhandledErrors.map((error) => {
      const { stack } = error as { stack?: unknown };
      return `error outside a test: ${(typeof stack === "string" ? stack : inspect(error)).slice(0, 1_500)}`;
    });
    const lines = [...this.#notices, ...outside, counts].map((line) => `${line}\n`).join("");
    // Writes at exit, because other reporters write after this one.
    process.once("exit", () => writeSync(1, lines));
  }
}
