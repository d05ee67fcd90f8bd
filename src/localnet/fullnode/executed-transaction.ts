import { GrpcTypes } from "@mysten/sui/grpc";
import type { ExecutionOutcome } from "./execute-content.ts";
import type { EmittedEvent } from "./execution-state.ts";
import { timestampProto } from "./expiration-proto.ts";

/** Returns an executed or simulated transaction in its sui.rpc.v2 form. */
export function executedTransaction(
  frame: TransactionFrame,
  outcome: Pick<ExecutionOutcome, "effects" | "events" | "balanceChanges">,
  at: { readonly timestampMs: bigint; readonly checkpoint: bigint | undefined },
): GrpcTypes.ExecutedTransaction {
  return {
    digest: frame.digest,
    ...(frame.transaction === undefined ? {} : { transaction: frame.transaction }),
    signatures: frame.signatures.map((value) => ({
      bcs: { name: "UserSignature", value },
      signature: { oneofKind: undefined },
    })),
    effects: outcome.effects,
    events: {
      events: outcome.events.map((event, index) => eventProto(event, frame, index)),
    },
    ...(at.checkpoint === undefined ? {} : { checkpoint: at.checkpoint }),
    timestamp: timestampProto(at.timestampMs),
    balanceChanges: outcome.balanceChanges,
  };
}

/** A transaction's sender, content and signatures. A system transaction has no content and no signatures. */
export interface TransactionFrame {
  readonly digest: string;
  readonly sender: string;
  readonly transaction: GrpcTypes.Transaction | undefined;
  readonly signatures: readonly Uint8Array[];
}

export function encodeExecuted(executed: GrpcTypes.ExecutedTransaction): Uint8Array {
  return GrpcTypes.ExecutedTransaction.toBinary(executed);
}

export function decodeExecuted(bytes: Uint8Array): GrpcTypes.ExecutedTransaction {
  return GrpcTypes.ExecutedTransaction.fromBinary(bytes);
}

function eventProto(event: EmittedEvent, frame: TransactionFrame, index: number): GrpcTypes.Event {
  return {
    packageId: event.packageId,
    module: event.module,
    sender: frame.sender,
    eventType: event.type,
    contents: { name: event.type, value: event.contents },
    transactionDigest: frame.digest,
    eventIndex: index,
  };
}
