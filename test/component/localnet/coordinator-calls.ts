import { coordinatorTransactions as calls } from "@ika.xyz/sdk";
import type { Transaction } from "@mysten/sui/transactions";
import { type Harness, hotWallet, session } from "./harness.ts";

/** What a paid call of the SDK's `coordinatorTransactions` takes beside its own arguments. */
export interface PaidCall {
  readonly coordinator: never;
  readonly identifier: never;
  readonly ika: never;
  readonly sui: never;
}

/** Returns a builder of transactions that pay with the hot wallet's IKA and gas. Objects that `add` returns go to it. */
export async function paying(
  harness: Harness,
): Promise<(add: (tx: Transaction, call: PaidCall) => unknown) => (tx: Transaction) => void> {
  const owner = hotWallet.toSuiAddress();
  const [coin] = (await harness.client.listCoins({ owner, coinType: harness.net.ikaCoinType })).objects;
  return (add) => (tx) => {
    const coordinator = harness.coordinator(tx) as never;
    const identifier = calls.registerSessionIdentifier(harness.config, coordinator, session(), tx) as never;
    const [sui] = tx.splitCoins(tx.gas, [100_000_000]);
    const ika = tx.object((coin as { objectId: string }).objectId) as never;
    const kept = add(tx, { coordinator, identifier, ika, sui: sui as never });
    const objects = kept === undefined ? [] : Array.isArray(kept) ? kept : [kept];
    tx.transferObjects([...(objects as never[]), sui as never], owner);
  };
}
