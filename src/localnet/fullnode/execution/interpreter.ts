import { makeVector, mergeCoins, splitCoins, transferObjects } from "./builtin-commands.ts";
import { ExecutionError, FailureKind } from "./failures.ts";
import { lookUpFunction, type MoveFunction, type MoveValue } from "./move-function.ts";
import {
  atArgument,
  type Borrows,
  CommandFailure,
  longType,
  type Program,
  refuseGasByValue,
  type Slot,
  useArgument,
} from "./slots.ts";
import type { PtbArgument, PtbCommand } from "./transaction-data.ts";

/** Runs all commands in order and checks that no value stays unused. Throws CommandFailure. */
export function runCommands(program: Program, commands: readonly PtbCommand[]): void {
  for (const [index, command] of commands.entries()) {
    try {
      const borrows: Borrows = new Map();
      const values = runCommand(program, command, borrows);
      program.observe?.(command, values, borrows);
      program.slots.results.push(values.map((value) => ({ value, origin: "result", access: "free" })));
    } catch (error) {
      throw error instanceof ExecutionError ? new CommandFailure(error, index) : error;
    }
  }
  for (const [index, results] of program.slots.results.entries()) {
    for (const [subresult, slot] of results.entries()) refuseUnused(slot, index, subresult);
  }
}

function runCommand(program: Program, command: PtbCommand, borrows: Borrows): readonly MoveValue[] {
  switch (command.kind) {
    case "moveCall":
      return callFunction(program, command, borrows);
    case "split":
      return splitCoins(program, command, borrows);
    case "merge":
      return mergeCoins(program, command, borrows);
    case "transfer":
      return transferObjects(program, command, borrows);
    case "vector":
      return makeVector(program, command, borrows);
    case "publish":
      return publish(program, command);
  }
}

function callFunction(
  program: Program,
  command: PtbCommand & { kind: "moveCall" },
  borrows: Borrows,
): readonly MoveValue[] {
  const name = `${command.module}::${command.functionName}`;
  const target = lookUpFunction(
    program.functions,
    command.packageId,
    name,
    (id) => program.state.find(id)?.type,
  );
  if (target === undefined) {
    const fullName = `${command.packageId}::${name}`;
    program.functions.onMissing?.(fullName);
    const message = `Function Not Found. This node has no ${fullName.slice(0, MAX_NAME_LENGTH)}`;
    throw new ExecutionError(FailureKind.FUNCTION_NOT_FOUND, message);
  }
  if (command.typeArguments.length !== target.typeParameterCount) {
    throw new ExecutionError(FailureKind.TYPE_ARITY_MISMATCH, "Type arity mismatch for Move function");
  }
  if (command.arguments.length !== target.parameters.length) {
    throw new ExecutionError(FailureKind.ARITY_MISMATCH, "Arity mismatch for Move function");
  }
  const typeArguments = command.typeArguments.map(longType);
  const args = decodeArguments(program, target, command.arguments, typeArguments, borrows);
  const { state, sender, epoch } = program;
  return target.run({ state, sender, epoch, typeArguments }, args);
}

/** An address and two Move identifiers of the greatest length. */
const MAX_NAME_LENGTH = 66 + 2 * (2 + 128);

function publish(program: Program, command: PtbCommand & { kind: "publish" }): readonly MoveValue[] {
  const { packages } = program.functions;
  if (packages === undefined)
    throw new ExecutionError(FailureKind.FUNCTION_NOT_FOUND, "this node publishes no packages");
  const { state, sender, epoch } = program;
  return packages.publish({ state, sender, epoch, typeArguments: [] }, command.modules, command.dependencies);
}

function decodeArguments(
  program: Program,
  target: MoveFunction,
  args: readonly PtbArgument[],
  typeArguments: readonly string[],
  borrows: Borrows,
): unknown[] {
  return target.parameters.map((parameter, index) =>
    atArgument(index, () => {
      const argument = args[index] as PtbArgument;
      if (parameter.reference === "value") refuseGasByValue(argument);
      const value = useArgument(program.slots, argument, parameter.reference, borrows);
      return parameter.accept(value, parameter.type.replaceAll("$0", typeArguments[0] ?? ""));
    }),
  );
}

function refuseUnused(slot: Slot, result: number, subresult: number): void {
  if (slot.value === undefined || (slot.value.kind === "data" && slot.value.droppable)) return;
  const message = `Unused result without the drop ability. Command result ${result}, return value ${subresult}`;
  const failure = new ExecutionError(FailureKind.UNUSED_VALUE_WITHOUT_DROP, message, {
    kind: "unusedValue",
    result,
    subresult,
  });
  throw new CommandFailure(failure, result);
}
