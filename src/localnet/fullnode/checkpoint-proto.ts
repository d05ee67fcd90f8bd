import { GrpcTypes } from "@mysten/sui/grpc";
import { decodeExecuted } from "./executed-transaction.ts";
import { timestampProto } from "./expiration-proto.ts";
import type { LedgerTransaction } from "./ledger.ts";
import { applyReadMask } from "./read-mask.ts";

/**
 * Returns the fields of a checkpoint that the mask names, in their sui.rpc.v2 form. Without a mask, `defaults` apply. A
 * checkpoint contains one transaction, has the same digest, and contains the settlement of that transaction.
 */
export function checkpointProto(
  stored: LedgerTransaction,
  mask: { readonly paths: readonly string[] } | undefined,
  defaults: readonly string[],
): GrpcTypes.Checkpoint {
  const executed = decodeExecuted(stored.executed);
  const transactions = [executed];
  if (stored.settlement !== undefined) transactions.push(decodeExecuted(stored.settlement.executed));
  const checkpoint: GrpcTypes.Checkpoint = {
    sequenceNumber: stored.checkpoint,
    digest: stored.digest,
    summary: {
      digest: stored.digest,
      epoch: executed.effects?.epoch ?? 1n,
      sequenceNumber: stored.checkpoint,
      totalNetworkTransactions: stored.checkpoint + 1n,
      timestamp: timestampProto(stored.timestampMs),
      commitments: [],
    },
    contents: {
      digest: stored.digest,
      version: 1,
      transactions: transactions.map(({ digest, effects }) => ({
        ...(digest === undefined ? {} : { transaction: digest }),
        ...(effects?.digest === undefined ? {} : { effects: effects.digest }),
        signatures: [],
        addressAliasesVersions: [],
      })),
    },
    transactions,
  };
  return applyReadMask(GrpcTypes.Checkpoint, checkpoint, mask, defaults);
}
