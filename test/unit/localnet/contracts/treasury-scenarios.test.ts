/** Runs the same scenarios on the localnet's model of the Treasury as the Move tests run on the Move package. */
import { expect, it } from "vitest";
import { ExecutionError } from "../../../../src/localnet/fullnode/execution/failures.ts";
import type { Failure, Scenario } from "../../../../tools/move/scenario.ts";
import { SCENARIOS } from "../../../../tools/move/scenarios.ts";
import { createTreasuryModel } from "./treasury-model.ts";

it.each(SCENARIOS)("$name", ({ steps, fails }: Scenario) => {
  const take = createTreasuryModel();
  const last = fails === undefined ? undefined : steps.at(-1)!;
  for (const step of last === undefined ? steps : steps.slice(0, -1)) take(step);
  if (last !== undefined) expect(failureOf(() => take(last))).toBe(fails);
});

function failureOf(work: () => void): Failure | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (!(error instanceof ExecutionError)) throw error;
    const { detail } = error;
    if (detail.kind === "abort") return `${detail.module} ${Number(detail.code)}` as Failure;
    throw error;
  }
}
