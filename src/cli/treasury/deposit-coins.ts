import type { Transaction, TransactionObjectArgument } from "@mysten/sui/transactions";
import type { CallTreasury } from "./change-command.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";

/** Adds a deposit of the sender's coins to a transaction. Takes the SUI from the coins that pay for the gas. */
export async function depositCoins(
  { client, ikaCoinType }: Pick<TreasuryChain, "client" | "ikaCoinType">,
  amounts: { readonly ika: bigint; readonly sui: bigint },
  { call, tx, sender }: { call: CallTreasury; tx: Transaction; sender: string },
): Promise<void> {
  const [sui] = tx.splitCoins(tx.gas, [amounts.sui]);
  const ika = amounts.ika === 0n ? emptyCoin(tx, ikaCoinType) : await splitIka();
  call("deposit", { ika, sui: sui as TransactionObjectArgument });

  async function splitIka(): Promise<TransactionObjectArgument> {
    const chosen = [];
    let total = 0n;
    let cursor: string | null = null;
    do {
      const page = await listCoins(cursor);
      for (const coin of page.objects) {
        if (total >= amounts.ika || chosen.length >= MAX_COINS) break;
        chosen.push(coin);
        total += BigInt(coin.balance);
      }
      cursor = page.hasNextPage ? page.cursor : null;
    } while (cursor !== null && total < amounts.ika && chosen.length < MAX_COINS);
    if (total < amounts.ika)
      throw new Error(`the sender ${sender} has only ${showAmount(total, "IKA")} in ${chosen.length} coins`);
    const [first, ...others] = chosen.map(({ objectId, version, digest }) =>
      tx.objectRef({ objectId, version, digest }),
    );
    if (others.length > 0) tx.mergeCoins(first as TransactionObjectArgument, others);
    return tx.splitCoins(first as TransactionObjectArgument, [amounts.ika])[0] as TransactionObjectArgument;
  }

  function listCoins(after: string | null) {
    return client.core.listCoins({ owner: sender, coinType: ikaCoinType, cursor: after });
  }
}

const MAX_COINS = 200;

function emptyCoin(tx: Transaction, coinType: string): TransactionObjectArgument {
  return tx.moveCall({ target: "0x2::coin::zero", typeArguments: [coinType] });
}
