import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { balanceOf, createCoin } from "../../fullnode/execution/execution-state.ts";
import {
  ArgumentFailure,
  ArgumentFault,
  ExecutionError,
  FailureKind,
  moveAbort,
} from "../../fullnode/execution/failures.ts";
import {
  address,
  type MoveCallContext,
  type MoveFunction,
  type MoveParameter,
  type MoveValue,
  moveFunction,
  objectValue,
  owned,
  plainValue,
  type Reference,
  struct,
  u64,
} from "../../fullnode/execution/move-function.ts";
import {
  balanceType,
  coinObjectType,
  SUI_FRAMEWORK,
  withdrawalType,
} from "../../fullnode/objects/sui-types.ts";

/**
 * Returns the calls of `0x2::balance` and `0x2::coin` that move money between coins, balances and address balances
 * (SIP-58). A withdrawal takes the whole limit of its input, as `redeem_funds` does on Sui.
 */
export function balanceFunctions(): readonly MoveFunction[] {
  const coin = { packageId: SUI_FRAMEWORK, module: "coin", typeParameterCount: 1 } as const;
  const balance = { packageId: SUI_FRAMEWORK, module: "balance", typeParameterCount: 1 } as const;
  return [
    moveFunction({
      ...coin,
      name: "into_balance",
      parameters: [owned(COIN)],
      returns: [BALANCE],
      run(call, self) {
        const amount = balanceOf(call.state, self);
        call.state.remove(self);
        return [balanceValue(call, amount)];
      },
    }),
    moveFunction({
      ...coin,
      name: "from_balance",
      parameters: [struct(BALANCE)],
      returns: [COIN],
      run: (call, self) => [objectValue(createCoin(call.state, coinType(call), amountOf(self)))],
    }),
    moveFunction({
      ...coin,
      name: "send_funds",
      parameters: [owned(COIN), address],
      run(call, self, recipient) {
        call.state.changeFunds(recipient, typeArgument(call), balanceOf(call.state, self));
        call.state.remove(self);
      },
    }),
    moveFunction({
      ...coin,
      name: "redeem_funds",
      parameters: [struct(WITHDRAWAL)],
      returns: [COIN],
      run: (call, self) => [objectValue(createCoin(call.state, coinType(call), withdraw(call, self)))],
    }),
    moveFunction({
      ...balance,
      name: "send_funds",
      parameters: [struct(BALANCE), address],
      run: (call, self, recipient) => {
        call.state.changeFunds(recipient, typeArgument(call), amountOf(self));
      },
    }),
    moveFunction({
      ...balance,
      name: "redeem_funds",
      parameters: [struct(WITHDRAWAL)],
      returns: [BALANCE],
      run: (call, self) => [balanceValue(call, withdraw(call, self))],
    }),
    moveFunction({
      ...balance,
      name: "value",
      parameters: [borrowedBalance("immutable")],
      returns: ["u64"],
      run: (_call, self) => [plainValue("u64", self)],
    }),
    moveFunction({
      ...balance,
      name: "zero",
      parameters: [],
      returns: [BALANCE],
      run: (call) => [balanceValue(call, 0n)],
    }),
    moveFunction({
      ...balance,
      name: "split",
      parameters: [borrowedBalance("mutable"), u64],
      returns: [BALANCE],
      run(call, self, amount) {
        const held = amountOf(self);
        if (held < amount) throw moveAbort(`${SUI_FRAMEWORK}::balance::split`, NOT_ENOUGH);
        self.set(encode(held - amount));
        return [balanceValue(call, amount)];
      },
    }),
    moveFunction({
      ...balance,
      name: "join",
      parameters: [borrowedBalance("mutable"), struct(BALANCE)],
      returns: ["u64"],
      run(_call, self, other) {
        const sum = amountOf(self) + amountOf(other);
        if (sum >= 1n << 64n)
          throw new ExecutionError(FailureKind.MOVE_PRIMITIVE_RUNTIME_ERROR, "Move Primitive Runtime Error.");
        self.set(encode(sum));
        return [plainValue("u64", encode(sum))];
      },
    }),
    moveFunction({
      ...balance,
      name: "destroy_zero",
      parameters: [struct(BALANCE)],
      run(_call, self) {
        if (amountOf(self) !== 0n) throw moveAbort(`${SUI_FRAMEWORK}::balance::destroy_zero`, NON_ZERO);
      },
    }),
  ];
}

const COIN = coinObjectType("$0");
const BALANCE = balanceType("$0");
const WITHDRAWAL = withdrawalType("$0");
/** Abort codes of `0x2::balance`: a balance that is not zero, and too little to split. */
const NON_ZERO = 0;
const NOT_ENOUGH = 2;
const ADDRESS_BYTES = 32;

/** `&Balance` or `&mut Balance`: the bytes of the value, which a mutable reference may change in place. */
function borrowedBalance(reference: Exclude<Reference, "value">): MoveParameter<Uint8Array> {
  return {
    reference,
    type: BALANCE,
    accept(value, wanted) {
      if (value.kind !== "data" || value.type !== wanted)
        throw new ArgumentFailure(ArgumentFault.TYPE_MISMATCH);
      return value.bytes;
    },
  };
}

/** Withdraws the limit of a withdrawal from its owner's address balance and returns it. */
function withdraw(call: MoveCallContext, withdrawal: Uint8Array): bigint {
  const owner = Address.parse(withdrawal.subarray(0, ADDRESS_BYTES));
  const limit = BigInt(bcs.u256().parse(withdrawal.subarray(ADDRESS_BYTES)));
  call.state.changeFunds(owner, typeArgument(call), -limit);
  return limit;
}

/** A balance, which must be used: it has neither `copy` nor `drop`. */
function balanceValue(call: MoveCallContext, amount: bigint): MoveValue {
  const type = balanceType(typeArgument(call));
  return { kind: "data", type, bytes: encode(amount), copyable: false, droppable: false };
}

const encode = (amount: bigint): Uint8Array => U64.serialize(amount).toBytes();
const amountOf = (balance: Uint8Array): bigint => BigInt(U64.parse(balance));
const typeArgument = (call: MoveCallContext): string => call.typeArguments[0] ?? "";
const coinType = (call: MoveCallContext): string => coinObjectType(typeArgument(call));
