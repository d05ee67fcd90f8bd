import { randomBytes } from "node:crypto";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Transaction } from "@mysten/sui/transactions";
import { normalizeStructTag, toBase58 } from "@mysten/sui/utils";
import type { AcceptedCoin } from "../../../src/service/billing/deposits/accepted-coins.ts";
import type { Deposits } from "../../../src/service/billing/deposits/deposits.ts";
import { parseUsdPrice } from "../../../src/service/billing/prices/price-source.ts";
import type { Payment, PaymentReader } from "../../../src/service/chain/payment-reader.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { objectId } from "./rows.ts";

/** The SUI and IKA of tests. */
export const SUI = acceptedCoin("SUI", "0x2::sui::SUI");
/** A coin of a package that exists on no network. */
export const IKA = acceptedCoin("IKA", "0xabc::ika::IKA");

/** Prices in US dollars that a test changes; undefined for none. */
export interface TestPrices {
  SUI: string | undefined;
  IKA: string | undefined;
}

/** Deposits on a simulated chain. */
export interface FakePayments extends PaymentReader {
  /** Pays an amount in one transaction and returns its digest. */
  pay(address: string, ...amounts: readonly (readonly [AcceptedCoin, bigint])[]): string;
  /** Coins that the fullnode lists, and whether it knows their transactions. */
  knowsTransactions: boolean;
}

/** Creates a simulated chain on which each payment arrives as one coin object. */
export function fakePayments(): FakePayments {
  const transactions = new Map<string, Payment[]>();
  const reader: FakePayments = {
    knowsTransactions: true,
    pay(address, ...amounts) {
      const digest = toBase58(randomBytes(32));
      const payments = amounts.map(([{ coinType }, amount]) => ({
        address,
        coinType,
        amount,
        funds: 0n,
        coins: [{ objectId: objectId(), version: "7", digest: toBase58(randomBytes(32)), amount }],
      }));
      transactions.set(digest, payments);
      return digest;
    },
    async ownedCoins(owner, coinType) {
      const coins = [...transactions].flatMap(([txDigest, payments]) =>
        payments
          .filter((payment) => payment.address === owner && payment.coinType === coinType)
          .flatMap((payment) => payment.coins.map((coin) => ({ ...coin, txDigest }))),
      );
      return { coins, cursor: undefined };
    },
    async payments(digest) {
      return reader.knowsTransactions ? transactions.get(digest) : undefined;
    },
    async coinMetadata() {
      return undefined;
    },
    addressBalances: async () => [],
    settlement: async () => undefined,
    settlementOf: async () => undefined,
  };
  return reader;
}

/** Creates deposits with their own seed and prices that a test changes. */
export function testDeposits(
  database: Database,
  prices: TestPrices,
  change: Partial<Deposits> = {},
): Deposits {
  const coins = change.coins ?? [SUI, IKA];
  const reader = fakePayments();
  return {
    database,
    network: "localnet",
    masterSeed: new Secret(new Uint8Array(32).fill(7)),
    coins,
    minimumMicroUsd: 1_000_000n,
    maxReferences: 3,
    usersMaxCount: 100,
    reader,
    readerFor: () => change.reader ?? reader,
    recentRefusals: { find: () => undefined, add() {} },
    prices: {
      priceOf(coinType) {
        const name = coins.find((coin) => coin.coinType === coinType)?.name as keyof TestPrices;
        const picoUsd = parseUsdPrice(prices[name] ?? "");
        return picoUsd === undefined ? undefined : { picoUsd, time: new Date() };
      },
    },
    ...change,
  };
}

/** A coin with nine decimals. */
export function acceptedCoin(name: string, coinType: string): AcceptedCoin {
  return { name, symbol: name, coinType: normalizeStructTag(coinType), decimals: 9 };
}

/** A payer's account, filled by a faucet. */
export interface Payer {
  readonly signer: Ed25519Keypair;
  /** Sends SUI and IKA in one transaction and returns its digest once the fullnode has executed it. */
  pay(address: string, amounts: { readonly sui: bigint; readonly ika: bigint }): Promise<string>;
  /** Pays SUI, and by default no coin of SUI, into the address balance (SIP-58) and returns the digest. */
  payFunds(address: string, funds: bigint, coin?: bigint): Promise<string>;
}

/** Creates an account that the localnet's faucet fills, and pays from it only with the Sui SDK. */
export async function fundedPayer(client: SuiGrpcClient, url: string, ikaCoinType: string): Promise<Payer> {
  const signer = Ed25519Keypair.generate();
  const owner = signer.toSuiAddress();
  const given = await fetch(new URL("/v2/gas", url), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ FixedAmountRequest: { recipient: owner } }),
  });
  if (!given.ok) throw new Error(`the faucet answers with ${given.status}`);
  return {
    signer,
    async pay(address, { sui, ika }) {
      const transaction = new Transaction();
      transaction.setSender(owner);
      const coins = [];
      if (sui > 0n) coins.push(transaction.splitCoins(transaction.gas, [sui])[0]!);
      if (ika > 0n) {
        const { objects } = await client.core.listCoins({ owner, coinType: ikaCoinType });
        coins.push(transaction.splitCoins(transaction.object(objects[0]!.objectId), [ika])[0]!);
      }
      transaction.transferObjects(coins, address);
      return execute(transaction);
    },
    payFunds(address, funds, coin = 0n) {
      const transaction = new Transaction();
      transaction.setSender(owner);
      transaction.moveCall({
        target: "0x2::balance::send_funds",
        typeArguments: ["0x2::sui::SUI"],
        arguments: [transaction.balance({ balance: funds }), transaction.pure.address(address)],
      });
      if (coin > 0n) transaction.transferObjects([transaction.splitCoins(transaction.gas, [coin])], address);
      return execute(transaction);
    },
  };

  async function execute(transaction: Transaction): Promise<string> {
    const result = await client.signAndExecuteTransaction({ transaction, signer });
    if (result.$kind === "FailedTransaction") throw new Error("the payment failed");
    return result.Transaction.digest;
  }
}
