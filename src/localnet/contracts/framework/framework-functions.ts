import { concatBytes } from "@noble/hashes/utils.js";
import { U64 } from "../../../protocol/chain/fast-bcs.ts";
import { balanceOf, createCoin, setBalance } from "../../fullnode/execution/execution-state.ts";
import { ExecutionError, FailureKind, moveAbort } from "../../fullnode/execution/failures.ts";
import {
  address,
  borrowed,
  borrowedMut,
  type MoveFunction,
  moveFunction,
  objectValue,
  owned,
  plainValue,
  struct,
  u64,
} from "../../fullnode/execution/move-function.ts";
import { CLOCK_TYPE, clockTimestampMs } from "../../fullnode/objects/clock-object.ts";
import { coinObjectType, MOVE_STDLIB, SUI_FRAMEWORK } from "../../fullnode/objects/sui-types.ts";

/** Returns the framework calls that wallets and the Ika SDK put into transactions. */
export function frameworkFunctions(): readonly MoveFunction[] {
  const coin = { packageId: SUI_FRAMEWORK, module: "coin", typeParameterCount: 1 } as const;
  return [
    moveFunction({
      packageId: MOVE_STDLIB,
      module: "option",
      name: "none",
      typeParameterCount: 1,
      parameters: [],
      returns: [`${MOVE_STDLIB}::option::Option<$0>`],
      run: (call) => [
        {
          kind: "data",
          type: `${MOVE_STDLIB}::option::Option<${call.typeArguments[0]}>`,
          bytes: Uint8Array.of(0),
          copyable: false,
          droppable: true,
        },
      ],
    }),
    moveFunction({
      packageId: MOVE_STDLIB,
      module: "option",
      name: "some",
      typeParameterCount: 1,
      parameters: [struct("$0")],
      returns: [`${MOVE_STDLIB}::option::Option<$0>`],
      run: (call, value) => [
        {
          kind: "data",
          type: `${MOVE_STDLIB}::option::Option<${call.typeArguments[0]}>`,
          bytes: concatBytes(Uint8Array.of(1), value),
          copyable: false,
          droppable: false,
        },
      ],
    }),
    moveFunction({
      packageId: SUI_FRAMEWORK,
      module: "transfer",
      name: "public_transfer",
      typeParameterCount: 1,
      parameters: [owned("$0"), address],
      run(_call, object, recipient) {
        object.owner = { kind: "address", address: recipient };
        object.mutated = true;
      },
    }),
    moveFunction({
      packageId: SUI_FRAMEWORK,
      module: "transfer",
      name: "public_share_object",
      typeParameterCount: 1,
      parameters: [owned("$0")],
      run(_call, object) {
        // The version at which it becomes shared is that of this transaction, which the seal writes.
        if (object.input !== undefined)
          throw moveAbort(`${SUI_FRAMEWORK}::transfer::share_object_impl`, NOT_NEW);
        object.owner = { kind: "shared", initialVersion: 0n };
        object.mutated = true;
      },
    }),
    moveFunction({
      packageId: SUI_FRAMEWORK,
      module: "transfer",
      name: "public_freeze_object",
      typeParameterCount: 1,
      parameters: [owned("$0")],
      run(_call, object) {
        object.owner = { kind: "immutable" };
        object.mutated = true;
      },
    }),
    moveFunction({
      packageId: SUI_FRAMEWORK,
      module: "clock",
      name: "timestamp_ms",
      parameters: [borrowed(CLOCK_TYPE)],
      returns: ["u64"],
      run: (call, self) => [plainValue("u64", clockTimestampMs(call.state.contents(self)))],
    }),
    moveFunction({
      ...coin,
      name: "value",
      parameters: [borrowed(COIN)],
      returns: ["u64"],
      run: (call, self) => [plainValue("u64", U64.serialize(balanceOf(call.state, self)).toBytes())],
    }),
    moveFunction({
      ...coin,
      name: "zero",
      parameters: [],
      returns: [COIN],
      run: (call) => [objectValue(createCoin(call.state, coinObjectType(call.typeArguments[0] ?? ""), 0n))],
    }),
    moveFunction({
      ...coin,
      name: "split",
      parameters: [borrowedMut(COIN), u64],
      returns: [COIN],
      run(call, self, amount) {
        const balance = balanceOf(call.state, self);
        if (balance < amount) throw moveAbort(`${SUI_FRAMEWORK}::balance::split`, NOT_ENOUGH);
        setBalance(call.state, self, balance - amount);
        return [objectValue(createCoin(call.state, self.type, amount))];
      },
    }),
    moveFunction({
      ...coin,
      name: "join",
      parameters: [borrowedMut(COIN), owned(COIN)],
      run(call, self, other) {
        const balance = balanceOf(call.state, self) + balanceOf(call.state, other);
        if (balance >= 1n << 64n) {
          throw new ExecutionError(FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR, "Move Primitive Runtime Error.");
        }
        setBalance(call.state, self, balance);
        call.state.remove(other);
      },
    }),
    moveFunction({
      ...coin,
      name: "destroy_zero",
      parameters: [owned(COIN)],
      run(call, self) {
        if (balanceOf(call.state, self) !== 0n)
          throw moveAbort(`${SUI_FRAMEWORK}::balance::destroy_zero`, NON_ZERO);
        call.state.remove(self);
      },
    }),
  ];
}

/** Abort codes of `0x2::coin` and `0x2::balance`: too little to split, and a balance that is not zero. */
const NOT_ENOUGH = 2;
const NON_ZERO = 0;
/** Abort code of `0x2::transfer` for an object that was not created in this transaction. */
const NOT_NEW = 0;

const COIN = coinObjectType("$0");
