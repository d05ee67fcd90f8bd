import { bcs } from "@mysten/sui/bcs";
import { type SuiClientTypes, TransactionError } from "@mysten/sui/client";
import { normalizeStructTag, normalizeSuiAddress } from "@mysten/sui/utils";
import { presentObjects } from "../../protocol/chain/chain-reader.ts";
import { Address, U64 } from "../../protocol/chain/fast-bcs.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { type AddressBalanceReader, createAddressBalanceReader } from "./address-balance-reader.ts";
import type { ChainNetwork } from "./fullnodes/network.ts";
import { retryRead } from "./fullnodes/retry-read.ts";

/** Creates a reader that uses the network's client. */
export function createPaymentReader(
  network: Pick<ChainNetwork, "client" | "backOff" | "times" | "clock">,
): PaymentReader {
  const { core } = network.client;
  const read = retryRead(network);

  return {
    ...createAddressBalanceReader(network),
    async ownedCoins(owner, coinType, cursor) {
      const page = await read((signal) =>
        core.listOwnedObjects({
          owner,
          type: coinObjectType(coinType),
          include: { previousTransaction: true, content: true },
          limit: COINS_PER_PAGE,
          cursor: cursor ?? null,
          signal,
        }),
      );
      // A coin with a consensus owner cannot be spent by version, so it is not a deposit.
      const coins = page.objects.flatMap(
        ({ objectId, version, owner: { $kind }, previousTransaction, content }) =>
          $kind === "AddressOwner" && previousTransaction && balanceOf(content) > 0n
            ? [{ objectId, version, txDigest: previousTransaction }]
            : [],
      );
      return { coins, cursor: page.hasNextPage && page.cursor !== null ? page.cursor : undefined };
    },
    async payments(digest, coinTypes) {
      const transaction = await read((signal) => find(digest, signal));
      // A failed transaction moved only gas.
      if (!transaction?.status.success) return transaction && [];
      const gains = gainsOf(transaction, coinTypes);
      const amounts = await amountsOf(gains.flatMap(({ coins }) => coins));
      return gains.map(({ coins, ...gain }) => {
        const paid = coins.flatMap((coin) => {
          const amount = amounts.get(`${coin.objectId} ${coin.version}`);
          return amount === undefined ? [] : [{ ...coin, amount }];
        });
        checkAmount(digest, gain, { coinCount: coins.length, paid });
        return { ...gain, coins: paid };
      });
    },
    async coinMetadata(coinType) {
      const { coinMetadata } = await read((signal) => core.getCoinMetadata({ coinType, signal }));
      return coinMetadata ?? undefined;
    },
  };

  async function find(digest: string, signal: AbortSignal): Promise<Executed | undefined> {
    try {
      const result = await core.getTransaction({ digest, include: INCLUDE, signal });
      return result.Transaction ?? result.FailedTransaction;
    } catch (error) {
      if (error instanceof TransactionError && error.reason === "notFound") return undefined;
      throw error;
    }
  }

  async function amountsOf(coins: readonly { objectId: string }[]): Promise<Map<string, bigint>> {
    const amounts = new Map<string, bigint>();
    for (let index = 0; index < coins.length; index += OBJECTS_PER_CALL) {
      const objectIds = coins.slice(index, index + OBJECTS_PER_CALL).map(({ objectId }) => objectId);
      const { objects } = await read((signal) =>
        core.getObjects({ objectIds, include: { content: true }, signal }),
      );
      for (const object of presentObjects(objects)) {
        amounts.set(`${object.objectId} ${object.version}`, balanceOf(object.content));
      }
    }
    return amounts;
  }
}

/** A coin object that an address owns. */
export interface OwnedCoin {
  readonly objectId: string;
  readonly version: string;
  /** The transaction that wrote this version. */
  readonly txDigest: string;
}

/** The amount of one coin type that one transaction paid to one address. */
export interface Payment {
  readonly address: string;
  /** The normalised type. */
  readonly coinType: string;
  /** In the coin's smallest unit, above zero. */
  readonly amount: bigint;
  /** The part of the amount that was paid into the address balance, outside of coins. */
  readonly funds: bigint;
  /** The coin objects of the payment that still exist unchanged. */
  readonly coins: readonly PaidCoin[];
}

/** A coin object of a payment. */
export interface PaidCoin {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
  readonly amount: bigint;
}

/** A page of an address's coins, and the cursor of the next. */
export interface CoinPage {
  readonly coins: readonly OwnedCoin[];
  /** Undefined at the end. */
  readonly cursor: string | undefined;
}

/** Reads coins that others send. Throws CHAIN_UNAVAILABLE if the fullnode does not answer. */
export interface PaymentReader extends AddressBalanceReader {
  /**
   * Returns the address's coins of one type, the largest first on most fullnodes. It leaves out empty coins, because
   * anyone can send any number of them.
   */
  ownedCoins(owner: string, coinType: string, cursor?: string): Promise<CoinPage>;
  /**
   * Returns the transaction's payments of `coinTypes` to each address. It leaves out an address whose objects or address
   * balance the transaction used, because that address was spending. Undefined if this fullnode does not know the digest.
   */
  payments(digest: string, coinTypes: readonly string[]): Promise<readonly Payment[] | undefined>;
  /** Symbol and decimals from the coin's metadata; undefined if it has none. */
  coinMetadata(coinType: string): Promise<{ symbol: string; decimals: number } | undefined>;
}

const COINS_PER_PAGE = 200;
const OBJECTS_PER_CALL = 50;
/** `0x2::coin::Coin`. */
const Coin = bcs.struct("Coin", { id: Address, balance: U64 });
const balanceOf = (content: Uint8Array): bigint => BigInt(Coin.parse(content).balance);
const coinObjectType = (coinType: string): string => normalizeStructTag(`0x2::coin::Coin<${coinType}>`);

const INCLUDE = { effects: true, balanceChanges: true, objectTypes: true } as const;
type Executed = SuiClientTypes.Transaction<typeof INCLUDE>;

/**
 * The fullnode computes a transaction's balance changes, while the coins are objects on the chain, and the effects have
 * the changes of address balances. If all coins still exist unchanged, the two must agree.
 */
function checkAmount(
  digest: string,
  { amount, funds }: Pick<Payment, "amount" | "funds">,
  { coinCount, paid }: { readonly coinCount: number; readonly paid: readonly PaidCoin[] },
): void {
  if (paid.length < coinCount || (coinCount === 0 && funds === 0n)) return;
  const sum = paid.reduce((total, coin) => total + coin.amount, funds);
  if (sum !== amount)
    throw new MixedUpAnswerError(
      "coin",
      `transaction ${digest} paid ${sum}, but its balance changes say ${amount}`,
    );
}

type Gain = Omit<Payment, "coins"> & { readonly coins: readonly Omit<PaidCoin, "amount">[] };

function gainsOf(
  { balanceChanges, effects: { changedObjects, bcs: effectsBcs }, objectTypes }: Executed,
  coinTypes: readonly string[],
): Gain[] {
  const funds = fundsChanges(effectsBcs);
  const spenders = new Set([
    ...changedObjects.map(({ inputOwner }) => inputOwner?.AddressOwner),
    ...funds.filter(({ amount }) => amount < 0n).map(({ address }) => address),
  ]);
  const gains = balanceChanges.map((change) => ({
    address: normalizeSuiAddress(change.address),
    coinType: normalizeStructTag(change.coinType),
    amount: BigInt(change.amount),
  }));
  return gains
    .filter((gain) => gain.amount > 0n && coinTypes.includes(gain.coinType) && !spenders.has(gain.address))
    .map((gain) => ({
      ...gain,
      funds: funds.reduce(
        (sum, each) =>
          each.address === gain.address && each.coinType === gain.coinType ? sum + each.amount : sum,
        0n,
      ),
      coins: changedObjects.flatMap(({ objectId, outputOwner, outputVersion, outputDigest }) => {
        const type = objectTypes[objectId];
        const isPart =
          outputOwner?.AddressOwner === gain.address &&
          type !== undefined &&
          normalizeStructTag(type) === coinObjectType(gain.coinType);
        return isPart && outputVersion !== null && outputDigest !== null
          ? [{ objectId, version: outputVersion, digest: outputDigest }]
          : [];
      }),
    }));
}

/**
 * Returns the changes of address balances in the BCS of a transaction's effects, below zero for a withdrawal. Source:
 * `AccumulatorWriteV1` in `sui-types/src/effects/object_change.rs`.
 */
function fundsChanges(
  effects: Uint8Array | null,
): readonly { readonly address: string; readonly coinType: string; readonly amount: bigint }[] {
  const changes = effects === null ? [] : (bcs.TransactionEffects.parse(effects).V2?.changedObjects ?? []);
  return changes.flatMap(([, { outputState }]) => {
    const write = outputState.AccumulatorWriteV1;
    const balance = /^0x0*2::balance::Balance<(.+)>$/.exec(write?.address.ty ?? "");
    if (write === undefined || balance?.[1] === undefined || write.value.Integer === undefined) return [];
    const amount = BigInt(write.value.Integer);
    return [
      {
        address: normalizeSuiAddress(write.address.address),
        coinType: normalizeStructTag(balance[1]),
        amount: write.operation.$kind === "Merge" ? amount : -amount,
      },
    ];
  });
}
