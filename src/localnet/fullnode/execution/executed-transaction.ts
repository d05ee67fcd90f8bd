import { GrpcTypes } from "@mysten/sui/grpc";
import type { LedgerTransaction } from "../objects/ledger.ts";
import { withEventJson } from "../wire/event-json.ts";
import type { MoveJson } from "../wire/move-json.ts";
import type { ReadMask } from "../wire/read-mask.ts";
import { timestampProto } from "../wire/transaction-proto.ts";
import type { ExecutionOutcome } from "./execute-content.ts";
import { transactionEvents } from "./transaction-events.ts";

/** Returns an executed or simulated transaction in its sui.rpc.v2 form. */
export function executedTransaction(
  frame: TransactionFrame,
  outcome: Pick<ExecutionOutcome, "effects" | "events" | "balanceChanges">,
  at: { readonly timestampMs: bigint; readonly checkpoint: bigint | undefined },
): GrpcTypes.ExecutedTransaction {
  return {
    digest: frame.digest,
    transaction: frame.transaction,
    signatures: frame.signatures.map((value) => ({
      bcs: { name: "UserSignature", value },
      signature: { oneofKind: undefined },
    })),
    effects: outcome.effects,
    events: transactionEvents(outcome.events, frame),
    ...(at.checkpoint === undefined ? {} : { checkpoint: at.checkpoint }),
    timestamp: timestampProto(at.timestampMs),
    balanceChanges: outcome.balanceChanges,
  };
}

/** A transaction's sender, content and signatures. A system transaction has no signatures. */
export interface TransactionFrame {
  readonly digest: string;
  readonly sender: string;
  readonly transaction: GrpcTypes.Transaction;
  readonly signatures: readonly Uint8Array[];
}

export function encodeExecuted(executed: GrpcTypes.ExecutedTransaction): Uint8Array {
  return GrpcTypes.ExecutedTransaction.toBinary(executed);
}

export function decodeExecuted(bytes: Uint8Array): GrpcTypes.ExecutedTransaction {
  return GrpcTypes.ExecutedTransaction.fromBinary(bytes);
}

/** Returns the transactions of a checkpoint with their indexes in it. */
export function checkpointTransactions(stored: LedgerTransaction): GrpcTypes.ExecutedTransaction[] {
  const contents = [
    stored.executed,
    ...(stored.settlement === undefined ? [] : [stored.settlement.executed]),
  ];
  return contents.map((bytes, index) => ({ ...decodeExecuted(bytes), transactionIndex: BigInt(index) }));
}

/**
 * Returns the fields of a checkpoint that the mask names, in their sui.rpc.v2 form. A checkpoint contains one
 * transaction, has the same digest, and contains the settlement of that transaction. `toJson` renders events.
 */
export function checkpointProto(
  stored: LedgerTransaction,
  mask: ReadMask<GrpcTypes.Checkpoint>,
  toJson: MoveJson,
): GrpcTypes.Checkpoint {
  const transactions = checkpointTransactions(stored).map((executed) =>
    withEventJson(executed, mask, toJson, "transactions."),
  );
  const checkpoint: GrpcTypes.Checkpoint = {
    sequenceNumber: stored.checkpoint,
    digest: stored.digest,
    summary: {
      digest: stored.digest,
      epoch: transactions[0]?.effects?.epoch ?? 1n,
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
  return mask.project(checkpoint);
}
