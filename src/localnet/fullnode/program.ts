import type { ExecutionState } from "./execution-state.ts";
import type { ExecutionError } from "./failures.ts";
import type { FunctionTable } from "./move-function.ts";
import type { Slots } from "./slots.ts";

/** The environment of a transaction's commands. */
export interface Program {
  readonly state: ExecutionState;
  readonly functions: FunctionTable;
  readonly sender: string;
  readonly epoch: bigint;
  readonly slots: Slots;
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
