import { TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "../network.ts";
import { type TransactionOutcome, toOutcome } from "../outcome.ts";
import { retryRead } from "../retry-read.ts";

/** Reads through the network's client; every read is tried twice. */
export function createTransactionHistory(
  network: Pick<ChainNetwork, "client" | "backOff" | "times" | "clock">,
): TransactionHistory {
  const read = retryRead(network);
  const find = (digest: string) =>
    read(async (signal) => {
      try {
        return await network.client.core.getTransaction({ digest, include: INCLUDE, signal });
      } catch (error) {
        if (error instanceof TransactionError && error.reason === "notFound") return undefined;
        throw error;
      }
    });
  return {
    async read(digest) {
      const result = await find(digest);
      if (result === undefined) return "unknown";
      const found = result.Transaction ?? result.FailedTransaction;
      // A genesis has none, whatever the client's types say.
      const bytes: Uint8Array | undefined = found.bcs;
      if (bytes === undefined) return "nobody";
      const { sender, gasData } = Transaction.from(bytes).getData();
      if (!sender) return "nobody";
      return {
        digest,
        sender,
        gasOwner: gasData.owner ?? undefined,
        bytes,
        signatures: found.signatures,
        time: found.timestampMs === null ? undefined : new Date(found.timestampMs),
        outcome: toOutcome(result),
      };
    },
  };
}

/** A transaction as the chain keeps it. */
export interface PastTransaction {
  readonly digest: string;
  readonly sender: string;
  readonly gasOwner: string | undefined;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
  /** When its checkpoint was made; undefined while it is in none. */
  readonly time: Date | undefined;
  readonly outcome: TransactionOutcome;
}

/** Reads what was sent in the past. */
export interface TransactionHistory {
  /**
   * `nobody` for what nobody sent, such as a genesis; `unknown` for what this fullnode does not have, as most keep only
   * the newest. Throws CHAIN_UNAVAILABLE.
   */
  read(digest: string): Promise<PastTransaction | "nobody" | "unknown">;
}

const INCLUDE = { effects: true, events: true, bcs: true } as const;
