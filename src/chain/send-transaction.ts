import { ObjectError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "./network.ts";
import type { StoredTransaction } from "./outbox.ts";
import { type NetworkReader, type TransactionOutcome, toOutcome } from "./reader.ts";

/** How sending ended: with the chain's outcome, or `dead` when these bytes can never land. */
export type SendResult = TransactionOutcome | { readonly kind: "dead"; readonly reason: string };

const EXECUTE_TIMEOUT_MS = 60_000;

/**
 * Sends stored bytes. Sending the same bytes again is safe: the chain answers with the outcome of the first time.
 * Throws when the outcome is not known; the caller then sends the same bytes once more, later.
 */
export async function sendTransaction(
  network: ChainNetwork,
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<SendResult> {
  try {
    const result = await network.client.core.executeTransaction({
      transaction: stored.bytes,
      signatures: [...stored.signatures],
      include: { effects: true, events: true },
      signal: AbortSignal.timeout(EXECUTE_TIMEOUT_MS),
    });
    return toOutcome(result);
  } catch (error) {
    const known = await reader.transaction(stored.digest);
    if (known) return known;
    const reason = await deadBecause(network, reader, stored);
    if (reason === undefined) throw error;
    return { kind: "dead", reason };
  }
}

/** Why a transaction that the fullnode does not know can never land, or undefined while it still may. */
async function deadBecause(
  network: ChainNetwork,
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<string | undefined> {
  const { expiration, gasData } = Transaction.from(stored.bytes).getData();
  if (expiration?.$kind === "Epoch" && (await reader.epoch()) > BigInt(expiration.Epoch)) {
    return `its last epoch ${expiration.Epoch} is over`;
  }
  for (const coin of gasData.payment ?? []) {
    const maker = await successorMaker(network, coin.objectId, BigInt(coin.version));
    if (maker !== undefined && maker !== stored.digest) return `its gas coin was used by ${maker}`;
  }
  return undefined;
}

/** The transaction that made a later version of an object, if there is a later version. */
async function successorMaker(
  network: ChainNetwork,
  objectId: string,
  version: bigint,
): Promise<string | undefined> {
  try {
    const { object } = await network.client.core.getObject({
      objectId,
      include: { previousTransaction: true },
    });
    return BigInt(object.version) > version ? (object.previousTransaction ?? undefined) : undefined;
  } catch (error) {
    if (error instanceof ObjectError && error.reason === "deleted") return "a transaction that merged it";
    throw error;
  }
}
