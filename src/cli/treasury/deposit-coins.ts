import type { SuiClientTypes } from "@mysten/sui/client";
import type { Transaction, TransactionObjectArgument } from "@mysten/sui/transactions";
import { SUI_TYPE_ARG } from "@mysten/sui/utils";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import { showAmount } from "./parameter-kinds.ts";
import type { CallTreasury } from "./run-treasury-change.ts";

/**
 * Adds a deposit of the sender's coins to a transaction. Takes the SUI from the coins that pay for the gas, and what the
 * coins lack from the address balance (SIP-58).
 */
export async function depositCoins(
  { client, ikaCoinType }: Pick<TreasuryChain, "client" | "ikaCoinType">,
  amounts: { readonly ika: bigint; readonly sui: bigint },
  { call, tx, sender }: { call: CallTreasury; tx: Transaction; sender: string },
): Promise<void> {
  const { core } = client;
  const sui = await takeSui(amounts.sui);
  const ika = amounts.ika === 0n ? emptyCoin(tx, ikaCoinType) : await splitIka();
  call("deposit", { ika, sui });

  async function takeSui(amount: bigint): Promise<TransactionObjectArgument> {
    if (amount === 0n) return emptyCoin(tx, SUI_TYPE_ARG);
    const { balance } = await core.getBalance({ owner: sender });
    const inCoins = BigInt(balance.coinBalance);
    const outside = BigInt(balance.addressBalance);
    if (inCoins < amount + GAS_MIST && outside >= amount + GAS_MIST) return redeem(SUI_TYPE_ARG, amount);
    if (inCoins < amount + GAS_MIST && outside > 0n)
      tx.mergeCoins(tx.gas, [redeem(SUI_TYPE_ARG, outside < amount ? outside : amount)]);
    return tx.splitCoins(tx.gas, [amount])[0] as TransactionObjectArgument;
  }

  async function splitIka(): Promise<TransactionObjectArgument> {
    const chosen: SuiClientTypes.Coin[] = [];
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
    const missing = amounts.ika - total;
    const outside = missing > 0n ? await addressBalance(ikaCoinType) : 0n;
    if (missing > outside) {
      const held = `${showAmount(total, "IKA")} in ${chosen.length} coins`;
      const also = outside > 0n ? ` and ${showAmount(outside, "IKA")} in its address balance` : "";
      throw new Error(`the sender ${sender} has only ${held}${also}`);
    }
    const [first, ...more] = chosen.map(({ objectId, version, digest }) =>
      tx.objectRef({ objectId, version, digest }),
    );
    if (first === undefined) return redeem(ikaCoinType, amounts.ika);
    const others = missing > 0n ? [...more, redeem(ikaCoinType, missing)] : more;
    if (others.length > 0) tx.mergeCoins(first, others);
    return tx.splitCoins(first, [amounts.ika])[0] as TransactionObjectArgument;
  }

  function listCoins(after: string | null) {
    return core.listCoins({ owner: sender, coinType: ikaCoinType, cursor: after });
  }

  async function addressBalance(coinType: string): Promise<bigint> {
    return BigInt((await core.getBalance({ owner: sender, coinType })).balance.addressBalance);
  }

  function redeem(type: string, amount: bigint) {
    return tx.moveCall({
      target: "0x2::coin::redeem_funds",
      typeArguments: [type],
      arguments: [tx.withdrawal({ amount, type })],
    });
  }
}

const MAX_COINS = 200;
/** More than the gas of a deposit. */
const GAS_MIST = 100_000_000n;

function emptyCoin(tx: Transaction, coinType: string): TransactionObjectArgument {
  return tx.moveCall({ target: "0x2::coin::zero", typeArguments: [coinType] });
}
