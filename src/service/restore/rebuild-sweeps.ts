import { Transaction } from "@mysten/sui/transactions";
import { fromBase64, normalizeStructTag } from "@mysten/sui/utils";
import { Address } from "../../protocol/chain/fast-bcs.ts";
import type { Deposits } from "../billing/deposits/deposits.ts";
import { readPayments, recordPayments } from "../billing/deposits/record-payment.ts";
import { recordSettled } from "../billing/deposits/scan-address-balance.ts";
import {
  findDepositCoin,
  findQueuedWithdrawal,
  findSweptAddress,
  insertLostSweep,
  insertMovedCoin,
  type Withdrawn,
} from "../billing/sweeps/lost-sweeps.ts";
import type { SweptAddress } from "../billing/sweeps/sweep-signer.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { PastTransaction } from "../chain/restore/lost-transactions.ts";
import type { Rebuilder, Unrecoverable } from "../chain/restore/replay.ts";
import { writerOf } from "../chain/submit/send-transaction.ts";
import type { OwnedRef } from "../chain/treasury/treasury-calls.ts";
import type { Queryable } from "../platform/store/database.ts";

/**
 * Restores the sweeps of lost transactions with the deposits that they moved. These deposits are credited like any
 * other. Reports a sweep from an address that the database does not know, because the chain does not record references.
 */
export function createSweepRebuilder({
  deposits,
  reader,
  ownAddresses,
}: SweepRebuilderOptions): SweepRebuilder {
  const { network } = deposits;
  return {
    kind: "sweep",
    async rebuild(db, _transaction, sent) {
      const swept = await findSweptAddress(db, network, sent.sender);
      if (swept === undefined) {
        const isSweep = !ownAddresses.includes(sent.sender);
        return { subjectIds: [], unrecoverable: isSweep ? [await forgottenSweep(sent)] : [] };
      }
      await putBackDeposits(db, sent);
      const moved = ownedInputs(sent.bytes);
      const coins = await Promise.all(moved.map((coin) => findDepositCoin(db, network, coin)));
      const known = coins.filter((coin) => coin !== undefined);
      const queuedId = known.find((coin) => coin.sweepId !== null)?.sweepId;
      const withdrawn = withdrawalOf(sent);
      const coinType = known[0]?.coinType ?? withdrawn?.coinType;
      if (coinType === undefined) return { subjectIds: [], unrecoverable: [] };
      const { owners } = sent.outcome.changes;
      const destination = moved
        .map(({ objectId }) => owners.get(objectId))
        .find((owner) => owner !== undefined);
      const isOnlyFunds = moved.length === 0 && withdrawn !== undefined;
      const subjectId =
        queuedId ??
        (isOnlyFunds ? await findQueuedWithdrawal(db, withdrawn) : undefined) ??
        (await insertLostSweep(db, {
          network,
          swept,
          moved,
          coinType,
          destination: destination ?? withdrawn?.destination ?? swept.address,
          amount: known.reduce((sum, coin) => sum + BigInt(coin.amount), withdrawn?.funds ?? 0n),
          coinCount: known.length + (withdrawn === undefined ? 0 : 1),
          funds: withdrawn?.funds ?? 0n,
          sentAt: sent.time ?? null,
        }));
      return { subjectIds: [subjectId], unrecoverable: [] };
    },
    putBackDeposits,
  };

  async function putBackDeposits(db: Queryable, sent: PastTransaction): Promise<void> {
    const swept = await findSweptAddress(db, network, sent.sender);
    if (swept === undefined || sent.outcome.kind === "aborted") return;
    for (const coin of ownedInputs(sent.bytes))
      if ((await findDepositCoin(db, network, coin)) === undefined) await putBack(db, swept, coin, sent);
    const { coinType } = withdrawalOf(sent) ?? {};
    const settlement = coinType && (await deposits.reader.settlementOf(sent.digest, swept.address, coinType));
    if (coinType && settlement) await recordSettled(db, deposits, swept, { coinType, settlement });
  }

  async function forgottenSweep({ digest, sender, bytes, outcome }: PastTransaction): Promise<Unrecoverable> {
    const { dependencies } = outcome.changes;
    const writers = await Promise.all(
      ownedInputs(bytes).map(({ objectId, version }) => writerOf(reader, dependencies, objectId, version)),
    );
    const brought = [...new Set(writers.filter((writer) => writer !== undefined))];
    const declared = brought.length === 0 ? "the transactions that paid it" : brought.join(", ");
    return {
      what: "deposit address",
      id: sender,
      reason: `the copy does not know its reference, and transaction ${digest} swept it; its project requests the address of each reference again, and declares ${declared}`,
    };
  }

  /** Stores the coin's deposit, and the coin as one that has left its address. */
  async function putBack(
    db: Queryable,
    swept: SweptAddress,
    { objectId, version, digest }: OwnedRef,
    { digest: sweepDigest, outcome }: PastTransaction,
  ): Promise<void> {
    const brought = await writerOf(reader, outcome.changes.dependencies, objectId, version);
    if (brought === undefined) return;
    const payments = await readPayments(deposits, brought);
    await recordPayments(
      { database: { transaction: (work) => work(db) }, network },
      swept,
      brought,
      payments,
    );
    const left = (await readPayments(deposits, sweepDigest)).flatMap(({ coinType, coins }) =>
      coins.map((coin) => ({ ...coin, coinType })),
    );
    const coin = left.find((each) => each.objectId === objectId);
    const payment = payments.find(
      ({ address, coinType }) =>
        address === swept.address && (coin === undefined || coin.coinType === coinType),
    );
    if (payment === undefined) return;
    await insertMovedCoin(db, network, {
      objectId,
      version,
      digest,
      depositDigest: brought,
      address: swept.address,
      coinType: payment.coinType,
      // The value of a merged coin is lost. Most deposits consist of one coin.
      amount: coin?.amount ?? payment.amount - payment.funds,
    });
  }
}

export interface SweepRebuilderOptions {
  readonly deposits: Pick<Deposits, "network" | "coins" | "reader">;
  readonly reader: Pick<NetworkReader, "effects">;
  /** The service's own senders. Every other sender of its transactions is a deposit address. */
  readonly ownAddresses: readonly string[];
}

/** Restores sweeps, after the deposits that they moved. */
export interface SweepRebuilder extends Rebuilder {
  /** Stores the deposits that a lost sweep moved. Ignores other transactions. A repeated call has no effect. */
  putBackDeposits(db: Queryable, sent: PastTransaction): Promise<void>;
}

/** Returns the coins that the transaction moved, without its gas coins. */
function ownedInputs(bytes: Uint8Array): OwnedRef[] {
  return Transaction.from(bytes)
    .getData()
    .inputs.flatMap(({ Object: input }) =>
      input?.ImmOrOwnedObject === undefined ? [] : [input.ImmOrOwnedObject],
    )
    .map(({ objectId, version, digest }) => ({ objectId, version: String(version), digest }));
}

/** Returns what a sweep withdrew from its sender's address balance, and where to; undefined if it withdrew nothing. */
function withdrawalOf({
  sender,
  bytes,
}: PastTransaction): (Withdrawn & { readonly destination: string | undefined }) | undefined {
  const { inputs, commands } = Transaction.from(bytes).getData();
  const [withdrawal] = inputs.flatMap(({ FundsWithdrawal: input }) => (input === undefined ? [] : [input]));
  if (withdrawal === undefined) return undefined;
  const transfer = commands.find((command) => command.$kind === "TransferObjects")?.TransferObjects;
  const recipient = transfer?.address.$kind === "Input" ? inputs[transfer.address.Input]?.Pure : undefined;
  return {
    address: sender,
    coinType: normalizeStructTag(withdrawal.typeArg.Balance),
    funds: BigInt(withdrawal.reservation.MaxAmountU64),
    destination: recipient && Address.parse(fromBase64(recipient.bytes)),
  };
}
