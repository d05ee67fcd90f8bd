import type { GrpcTypes } from "@mysten/sui/grpc";
import type { ObjectChange } from "./effects.ts";
import { type ChainObject, coinBalance } from "./object.ts";
import { coinTypeOf } from "./sui-types.ts";

/** Returns the balance change of each address by coin type, over the coins that it owns. Omits zero changes. */
export function balanceChanges(changes: readonly ObjectChange[]): GrpcTypes.BalanceChange[] {
  const totals = new Map<string, { address: string; coinType: string; amount: bigint }>();
  for (const { before, after } of changes) {
    count(before, -1n);
    count(after, 1n);
  }
  return [...totals.values()]
    .filter((total) => total.amount !== 0n)
    .map(({ address, coinType, amount }) => ({ address, coinType, amount: amount.toString() }));

  function count(object: ChainObject | undefined, sign: bigint): void {
    if (object?.owner.kind !== "address") return;
    const coinType = coinTypeOf(object.type);
    if (coinType === undefined) return;
    const { address } = object.owner;
    const key = `${address} ${coinType}`;
    const total = totals.get(key) ?? { address, coinType, amount: 0n };
    total.amount += sign * coinBalance(object.contents);
    totals.set(key, total);
  }
}
