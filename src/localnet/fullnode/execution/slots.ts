import { normalizeStructTag } from "@mysten/sui/utils";
import type { ExecutionState } from "./execution-state.ts";
import { ArgumentFailure, ArgumentFault, ExecutionError, FailureKind } from "./failures.ts";
import type { FunctionTable, MoveValue, Reference } from "./move-function.ts";
import type { PtbArgument, PtbCommand } from "./transaction-data.ts";

export interface Slots {
  readonly inputs: readonly Slot[];
  readonly gas: Slot | undefined;
  readonly results: Slot[][];
}

/** A slot for a value: an input, the gas coin or one result of a command. Undefined once the value is taken. */
export interface Slot {
  value: MoveValue | undefined;
  readonly origin: "input" | "gas" | "result";
  /** The permitted use of an object input. Results have no restrictions. */
  readonly access: "owned" | "sharedMutable" | "sharedReadOnly" | "free";
}

/** The borrows of one command. They end with the command. */
export type Borrows = Map<Slot, Reference>;

/** Takes or borrows the value of an argument for one command under the rules of programmable transactions. */
export function useArgument(
  slots: Slots,
  argument: PtbArgument,
  how: Reference,
  borrows: Borrows,
): MoveValue {
  const slot = slotOf(slots, argument);
  const value = slot.value;
  const held = borrows.get(slot);
  if (value === undefined || held === "mutable" || (held === "immutable" && how !== "immutable")) {
    throw new ArgumentFailure(ArgumentFault.INVALID_VALUE_USAGE);
  }
  if (value.kind === "data" && value.copyable) return value;
  if (how === "mutable" && slot.access === "sharedReadOnly") {
    throw new ArgumentFailure(ArgumentFault.INVALID_OBJECT_BY_MUT_REF);
  }
  if (how === "value") {
    if (slot.access === "sharedReadOnly" || slot.access === "sharedMutable") {
      throw new ArgumentFailure(ArgumentFault.INVALID_OBJECT_BY_VALUE);
    }
    slot.value = undefined;
    return value;
  }
  borrows.set(slot, how);
  return value;
}

/** Returns the arguments that a command has borrowed to change, with their values. */
export function changedArguments(
  slots: Slots,
  args: readonly PtbArgument[],
  borrows: Borrows,
): { readonly argument: PtbArgument; readonly value: MoveValue }[] {
  return args.flatMap((argument) => {
    const slot = slotOf(slots, argument);
    if (slot.value === undefined || borrows.get(slot) !== "mutable") return [];
    return [{ argument, value: slot.value }];
  });
}

/** Rejects the gas coin by value. Any command may borrow it, but only TransferObjects may take it. */
export function refuseGasByValue(argument: PtbArgument): void {
  if (argument.kind === "gas") throw new ArgumentFailure(ArgumentFault.INVALID_GAS_COIN_USAGE);
}

function slotOf(slots: Slots, argument: PtbArgument): Slot {
  switch (argument.kind) {
    case "gas":
      return slots.gas ?? missing(ArgumentFault.INVALID_GAS_COIN_USAGE);
    case "input":
      return slots.inputs[argument.index] ?? missing(ArgumentFault.INDEX_OUT_OF_BOUNDS);
    case "result": {
      const results = slots.results[argument.index] ?? missing(ArgumentFault.INDEX_OUT_OF_BOUNDS);
      if (argument.subresult === undefined) {
        return results.length === 1 ? (results[0] as Slot) : missing(ArgumentFault.INVALID_RESULT_ARITY);
      }
      return results[argument.subresult] ?? missing(ArgumentFault.SECONDARY_INDEX_OUT_OF_BOUNDS);
    }
  }
}

function missing(fault: number): never {
  throw new ArgumentFailure(fault);
}

/** The environment of a transaction's commands. */
export interface Program {
  readonly state: ExecutionState;
  readonly functions: FunctionTable;
  readonly sender: string;
  readonly epoch: bigint;
  readonly slots: Slots;
  /** Called after each command, with what it returned and borrowed. */
  readonly observe?:
    | ((command: PtbCommand, returned: readonly MoveValue[], borrows: Borrows) => void)
    | undefined;
}

/** Thrown when a command fails, with the failure and the index of the command. */
export class CommandFailure extends Error {
  readonly failure: ExecutionError;
  readonly command: number;

  constructor(failure: ExecutionError, command: number) {
    super(failure.message);
    this.name = "CommandFailure";
    this.failure = failure;
    this.command = command;
  }
}

/** Runs `work` for one argument of a command. An ArgumentFailure becomes a command argument error of that argument. */
export function atArgument<T>(argument: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof ArgumentFailure)) throw error;
    const message = `Invalid command argument at ${argument}. ${error.message}`;
    throw new ExecutionError(FailureKind.COMMAND_ARGUMENT_ERROR, message, {
      kind: "argument",
      argument,
      fault: error.fault,
    });
  }
}

/** Normalizes a type argument to long addresses. Throws a type argument error if it is malformed. */
export function longType(type: string): string {
  try {
    return type.includes("::") ? normalizeStructTag(type) : type;
  } catch {
    throw new ExecutionError(FailureKind.TYPE_ARGUMENT_ERROR, `invalid type argument ${type.slice(0, 200)}`);
  }
}
