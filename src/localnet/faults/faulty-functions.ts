import { moveAbort } from "../fullnode/failures.ts";
import { type FunctionTable, functionTable } from "../fullnode/move-function.ts";
import type { Faults } from "./faults.ts";

/** Wraps the node's Move functions so that some calls abort. */
export function faultyFunctions(functions: FunctionTable, faults: Faults): FunctionTable {
  return functionTable(
    [...functions.values()].map((target) => ({
      ...target,
      run(call, args) {
        const name = `${target.module}::${target.name}`;
        for (const rule of faults.settings.abortCalls) {
          if (rule.function !== name || !faults.happens(rule.probability ?? 1)) continue;
          throw moveAbort(`${target.packageId}::${rule.module ?? target.module}::${target.name}`, rule.code);
        }
        return target.run(call, args);
      },
    })),
    functions.packages,
  );
}
