import { TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import type { ChainNetwork } from "../network.ts";
import { type TransactionOutcome, toOutcome } from "../outcome.ts";
import { retryRead } from "../retry-read.ts";

/** Creates a reader that uses the network's client and retries every read once. */
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
      // A genesis transaction has none, although the client's types say otherwise.
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

/** A transaction on the chain. */
export interface PastTransaction {
  readonly digest: string;
  readonly sender: string;
  readonly gasOwner: string | undefined;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
  /** The time of its checkpoint; undefined before it is in one. */
  readonly time: Date | undefined;
  readonly outcome: TransactionOutcome;
}

/** Reads past transactions. */
export interface TransactionHistory {
  /**
   * Returns `nobody` for a transaction without a sender, such as the genesis, and `unknown` for one that this fullnode
   * does not have, because most fullnodes keep only recent ones. Throws CHAIN_UNAVAILABLE.
   */
  read(digest: string): Promise<PastTransaction | "nobody" | "unknown">;
}

const INCLUDE = { effects: true, events: true, bcs: true } as const;
