import { TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import { ServiceError } from "../errors/service-error.ts";
import type { ChainNetwork } from "./network.ts";
import { type TransactionOutcome, toOutcome } from "./outcome.ts";
import { withDeadline } from "./with-deadline.ts";

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
  /** Undefined for what nobody sent, such as a genesis. Throws CHAIN_UNAVAILABLE, and when the fullnode lacks it. */
  read(digest: string): Promise<PastTransaction | undefined>;
}

/** Reads through the network's client; every read is tried twice. */
export function createTransactionHistory({
  client,
  pressure,
  times,
}: Pick<ChainNetwork, "client" | "pressure" | "times">): TransactionHistory {
  const attempt = (digest: string) =>
    withDeadline(times.readMs, (signal) =>
      pressure.run(() => client.core.getTransaction({ digest, include: INCLUDE, signal }), signal),
    );
  return {
    async read(digest) {
      const result = await attempt(digest).catch((error: unknown) => {
        if (isUnknown(error)) throw error;
        return attempt(digest).catch((cause: unknown) => {
          throw new ServiceError("CHAIN_UNAVAILABLE", "the fullnode does not answer", { cause });
        });
      });
      const found = result.Transaction ?? result.FailedTransaction;
      // A genesis has none, whatever the client's types say.
      const bytes: Uint8Array | undefined = found.bcs;
      if (bytes === undefined) return undefined;
      const { sender, gasData } = Transaction.from(bytes).getData();
      if (!sender) return undefined;
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

const INCLUDE = { effects: true, events: true, bcs: true } as const;

function isUnknown(error: unknown): boolean {
  return error instanceof TransactionError && error.reason === "notFound";
}
