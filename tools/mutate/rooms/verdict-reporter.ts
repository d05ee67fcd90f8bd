import { appendFileSync } from "node:fs";
import path from "node:path";
import type { Reporter, TestModule } from "vitest/node";
import type { Verdict } from "./run-batch.ts";

/** Writes a line for each generated test file when it ends. */
export default class VerdictReporter implements Reporter {
  readonly #output: string;

  constructor({ output }: { readonly output: string }) {
    this.#output = output;
  }

  onTestModuleEnd(module: TestModule): void {
    const failed = [...module.children.allTests("failed")][0];
    const errors = [
      ...(failed?.result().errors ?? []),
      ...module.errors(),
      ...[...module.children.allSuites()].flatMap((suite) => suite.errors()),
    ];
    const isFailed = !module.ok() || errors.length > 0;
    const text = `${failed?.fullName ?? ""}: ${errors[0]?.message ?? ""}`.slice(0, 300);
    const verdict: Verdict = {
      name: path.basename(module.moduleId, ".test.ts"),
      failed: isFailed,
      ...(isFailed ? { by: text } : {}),
    };
    appendFileSync(this.#output, `${JSON.stringify(verdict)}\n`);
  }
}
