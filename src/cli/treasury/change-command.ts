import type { Command, CommandContext } from "../command-line/command.ts";
import type { Options, Values } from "../command-line/option.ts";
import type { TreasuryCallValues } from "./add-treasury-call.ts";
import { CHANGE_OPTIONS, type ChangeValues } from "./change-options.ts";
import type { OpenTreasury } from "./open-treasury.ts";
import type { PlannedChange } from "./run-treasury-change.ts";
import type { TreasuryFunctionName } from "./treasury-functions.ts";

/** Creates a command that calls the Treasury, with the common options, the review, the dry run and the signature. */
export function changeCommand<O extends Options>(definition: ChangeDefinition<O>): Command {
  const { summary, details, options, plan } = definition;
  return {
    summary,
    ...(details !== undefined && { details }),
    options: { ...options, ...CHANGE_OPTIONS },
    async run(given, context) {
      const values = given as Values<O> & ChangeValues;
      const { runTreasuryChange } = await import("./run-treasury-change.ts");
      await runTreasuryChange({
        values,
        context,
        plan: (treasury, before) => plan(values, treasury, before),
      });
    },
  };
}

/** A command that calls the Treasury. */
export interface ChangeDefinition<O extends Options> {
  readonly summary: string;
  readonly details?: string;
  /** In addition to the common options. */
  readonly options: O;
  /** Returns the calls. May print an introduction to the review through `context`. */
  plan(
    values: Values<O>,
    treasury: OpenTreasury,
    context: CommandContext,
  ): PlannedChange | Promise<PlannedChange>;
}

/** Returns a change of a single call with the AdminCap. `next` is printed after the execution. */
export function oneCall<Name extends TreasuryFunctionName>(
  name: Name,
  values: TreasuryCallValues<Name>,
  ...next: readonly string[]
): PlannedChange {
  return { caller: "admin", add: (call) => call(name, values), next: () => next };
}
