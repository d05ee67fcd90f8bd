import { normalizeStructTag } from "@mysten/sui/utils";
import { ArgumentFailure, ExecutionError, FailureKind } from "./failures.ts";

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
