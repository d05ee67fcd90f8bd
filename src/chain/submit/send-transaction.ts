import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "../network.ts";
import { type TransactionOutcome, toOutcome } from "../outcome.ts";
import type { NetworkReader } from "../reader.ts";
import { withDeadline } from "../with-deadline.ts";
import type { StoredTransaction } from "./outbox.ts";
import { findSpentInput, type SpentInput } from "./spent-input.ts";

/**
 * Sends stored bytes. Sending the same bytes again is safe: the chain returns the first outcome. Throws when the
 * outcome is unknown; the caller then sends the same bytes again later.
 */
export async function sendTransaction(
  network: ChainNetwork,
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<SendResult> {
  try {
    const result = await withDeadline(network.clock, network.times.executeMs, (signal) =>
      network.backOff.run(
        () =>
          network.client.core.executeTransaction({
            transaction: stored.bytes,
            signatures: [...stored.signatures],
            include: { effects: true, events: true },
            signal,
          }),
        signal,
      ),
    );
    const outcome = toOutcome(result);
    if (outcome.kind === "landed") return outcome;
    // An abort is classified by reading the chain, so the fullnode that answers must have seen the abort.
    const seen = await reader.transaction(stored.digest);
    if (seen !== undefined) return seen;
    throw new Error("the fullnode has not seen the transaction yet");
  } catch (error) {
    const dead = await findDeath(reader, stored);
    // This look-up comes last: if the transaction landed, it did so before whatever made it look dead.
    const known = await reader.transaction(stored.digest);
    if (known) return known;
    if (dead === undefined) {
      throw new Error(`transaction ${stored.digest} has no outcome yet; its lane is waiting for it`, {
        cause: error,
      });
    }
    return dead;
  }
}

/** The result of sending: the chain's outcome, or `dead` if these bytes can never land. */
export type SendResult = TransactionOutcome | DeadTransaction;

/** Bytes that can never land. */
export interface DeadTransaction {
  readonly kind: "dead";
  readonly reason: string;
  /** The input that another transaction has used, if this is the reason. */
  readonly spent?: SpentInput;
}

/**
 * Returns why a transaction that the fullnode does not know can never land, or undefined if it still may. It cannot if
 * its last epoch has ended or another transaction has used one of its inputs. A newer version of an input alone proves
 * nothing, because this transaction may have written it.
 */
async function findDeath(
  reader: NetworkReader,
  stored: StoredTransaction,
): Promise<DeadTransaction | undefined> {
  const { expiration } = Transaction.from(stored.bytes).getData();
  const lastEpoch = expiration?.$kind === "Epoch" ? expiration.Epoch : expiration?.ValidDuring?.maxEpoch;
  if (lastEpoch != null && (await reader.epoch()).epoch > BigInt(lastEpoch)) {
    return { kind: "dead", reason: `its last epoch ${lastEpoch} has ended` };
  }
  const spent = await findSpentInput(reader, stored);
  if (spent === undefined) return undefined;
  return { kind: "dead", reason: `its input ${spent.objectId} was used by ${spent.byDigest}`, spent };
}
