import type { GrpcTypes } from "@mysten/sui/grpc";
import type { ObjectChange } from "./effects.ts";
import type { FundsChange } from "./execution-state.ts";
import { type ChainObject, coinBalance } from "./object.ts";
import { coinTypeOf } from "./sui-types.ts";

/**
 * Returns the balance change of each address by coin type, over the coins that it owns and its balance outside of
 * coins. Omits zero changes. Source: `derive_balance_changes_2` in `sui-types/src/balance_change.rs`.
 */
export function balanceChanges(
  changes: readonly ObjectChange[],
  funds: readonly FundsChange[],
): GrpcTypes.BalanceChange[] {
  const totals = new Map<string, { address: string; coinType: string; amount: bigint }>();
  for (const { before, after } of changes) {
    count(before, -1n);
    count(after, 1n);
  }
  for (const { address, coinType, amount } of funds) add(address, coinType, amount);
  return [...totals.values()]
    .filter((total) => total.amount !== 0n)
    .map(({ address, coinType, amount }) => ({ address, coinType, amount: amount.toString() }));

  function count(object: ChainObject | undefined, sign: bigint): void {
    if (object?.owner.kind !== "address") return;
    const coinType = coinTypeOf(object.type);
    if (coinType === undefined) return;
    add(object.owner.address, coinType, sign * coinBalance(object.contents));
  }

  function add(address: string, coinType: string, amount: bigint): void {
    const key = `${address} ${coinType}`;
    const total = totals.get(key) ?? { address, coinType, amount: 0n };
    total.amount += amount;
    totals.set(key, total);
  }
}
