import { concatBytes } from "@noble/hashes/utils.js";
import { encodeUleb128 } from "../../../protocol/bytes.ts";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { coinTypeOf } from "../objects/sui-types.ts";
import { balanceOf, createCoin, setBalance, type WorkingObject } from "./execution-state.ts";
import { ArgumentFailure, ArgumentFault, ExecutionError, FailureKind } from "./failures.ts";
import { type MoveValue, objectValue, plainValue, type Reference } from "./move-function.ts";
import { atArgument, type Borrows, longType, type Program, refuseGasByValue, useArgument } from "./slots.ts";
import type { PtbArgument, PtbCommand } from "./transaction-data.ts";

/** `SplitCoins`: splits new coins from one coin, in order. */
export function splitCoins(
  program: Program,
  command: PtbCommand & { kind: "split" },
  borrows: Borrows,
): MoveValue[] {
  const { state } = program;
  const coin = atArgument(0, () => takeCoin(program, command.coin, "mutable", borrows));
  return command.amounts.map((argument, index) => {
    const amount = atArgument(index + 1, () => u64Of(useArgument(program.slots, argument, "value", borrows)));
    const balance = balanceOf(state, coin);
    if (balance < amount) {
      throw new ExecutionError(
        FailureKind.INSUFFICIENT_COIN_BALANCE,
        "Insufficient coin balance for operation.",
      );
    }
    setBalance(state, coin, balance - amount);
    return objectValue(createCoin(state, coin.type, amount));
  });
}

/** `MergeCoins`: merges every source into the destination. */
export function mergeCoins(
  program: Program,
  command: PtbCommand & { kind: "merge" },
  borrows: Borrows,
): MoveValue[] {
  const { state } = program;
  const destination = atArgument(0, () => takeCoin(program, command.destination, "mutable", borrows));
  for (const [index, argument] of command.sources.entries()) {
    const source = atArgument(index + 1, () => {
      refuseGasByValue(argument);
      const coin = takeCoin(program, argument, "value", borrows);
      if (coin.type !== destination.type) throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      return coin;
    });
    const balance = balanceOf(state, destination) + balanceOf(state, source);
    if (balance >= 1n << 64n) {
      throw new ExecutionError(FailureKind.COIN_BALANCE_OVERFLOW, "The coin balance overflows u64");
    }
    setBalance(state, destination, balance);
    state.remove(source);
  }
  return [];
}

/** `TransferObjects`: the only command that may take the gas coin by value. */
export function transferObjects(
  program: Program,
  command: PtbCommand & { kind: "transfer" },
  borrows: Borrows,
): MoveValue[] {
  const objects = command.objects.map((argument, index) =>
    atArgument(index, () => {
      const value = useArgument(program.slots, argument, "value", borrows);
      if (value.kind !== "object") throw new ArgumentFailure(ArgumentFault.INVALID_TRANSFER_OBJECT);
      return value.object;
    }),
  );
  const address = atArgument(command.objects.length, () => {
    const value = useArgument(program.slots, command.address, "value", borrows);
    return addressOf(value);
  });
  for (const object of objects) {
    object.owner = { kind: "address", address };
    object.mutated = true;
  }
  return [];
}

/** `MakeMoveVec`: makes a vector of objects, or of plain values of the given type. */
export function makeVector(
  program: Program,
  command: PtbCommand & { kind: "vector" },
  borrows: Borrows,
): MoveValue[] {
  const values = command.elements.map((argument, index) =>
    atArgument(index, () => {
      refuseGasByValue(argument);
      return useArgument(program.slots, argument, "value", borrows);
    }),
  );
  const objects = values.flatMap((value) => (value.kind === "object" ? [value.object] : []));
  if (objects.length > 0 && objects.length === values.length) return [{ kind: "objects", objects }];
  if (command.elementType === undefined || objects.length > 0) {
    throw new ExecutionError(
      FailureKind.COMMAND_ARGUMENT_ERROR,
      "vector elements must be objects or have a type",
      {
        kind: "argument",
        argument: 0,
        fault: ArgumentFault.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT,
      },
    );
  }
  const type = command.elementType.includes("::") ? longType(command.elementType) : command.elementType;
  const parts = values.map((value, index) =>
    atArgument(index, () => {
      if (value.kind !== "data" || (value.type !== undefined && value.type !== type)) {
        throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      }
      return value.bytes;
    }),
  );
  const count = encodeUleb128(parts.length);
  return [plainValue(`vector<${type}>`, concatBytes(count, ...parts))];
}

function takeCoin(program: Program, argument: PtbArgument, how: Reference, borrows: Borrows): WorkingObject {
  const value = useArgument(program.slots, argument, how, borrows);
  if (value.kind !== "object" || coinTypeOf(value.object.type) === undefined) {
    throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
  }
  return value.object;
}

function u64Of(value: MoveValue): bigint {
  if (value.kind !== "data" || (value.type !== undefined && value.type !== "u64")) {
    throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
  }
  if (value.bytes.length !== 8) throw new ArgumentFailure(ArgumentFault.INVALID_BCS_BYTES);
  return BigInt(U64.parse(value.bytes));
}

function addressOf(value: MoveValue): string {
  if (value.kind !== "data" || (value.type !== undefined && value.type !== "address")) {
    throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
  }
  if (value.bytes.length !== 32) throw new ArgumentFailure(ArgumentFault.INVALID_BCS_BYTES);
  return Address.parse(value.bytes);
}
