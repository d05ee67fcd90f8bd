import { GrpcTypes } from "@mysten/sui/grpc";
import { checkpointProto } from "../execution/executed-transaction.ts";
import { RpcFailure, Status } from "../execution/failures.ts";
import type { Ledger } from "../objects/ledger.ts";
import type { StreamingMethod } from "../wire/node-methods.ts";
import { parseReadMask } from "../wire/read-mask.ts";

/**
 * Implements `sui.rpc.v2.SubscriptionService`: sends every new checkpoint, in order and without gaps, from the moment
 * of the call. As on a real node, the read mask is empty by default, and `cursor` is always set. Filters are not
 * supported.
 */
export function subscriptionService(ledger: Ledger, faults: SubscriptionFaults): readonly StreamingMethod[] {
  return [
    {
      path: `/${GrpcTypes.SubscriptionService.typeName}/SubscribeCheckpoints`,
      open(octets, stream) {
        const { filter, readMask } = decodeRequest(octets);
        if (faults.isRefused())
          throw new RpcFailure(Status.Unimplemented, "subscription service not enabled");
        if (filter !== undefined)
          throw new RpcFailure(Status.Unimplemented, "this node does not filter subscriptions");
        const mask = parseReadMask<GrpcTypes.Checkpoint>(GrpcTypes.Checkpoint, readMask, []);
        return ledger.onCommit(({ checkpoint: sequenceNumber, executed }) => {
          // A genesis object or a system change without a transaction is in no checkpoint.
          const stored = executed.length === 0 ? undefined : ledger.checkpoint(sequenceNumber);
          if (stored === undefined) return;
          if (faults.isCut()) return stream.cut();
          const checkpoint = checkpointProto(stored, mask);
          stream.send(
            GrpcTypes.SubscribeCheckpointsResponse.toBinary({ cursor: sequenceNumber, checkpoint }),
          );
        });
      },
    },
  ];
}

/** Draws whether a subscription fails. */
export interface SubscriptionFaults {
  isRefused(): boolean;
  /** Returns whether to break the connection instead of sending the next checkpoint. */
  isCut(): boolean;
}

function decodeRequest(octets: Uint8Array): GrpcTypes.SubscribeCheckpointsRequest {
  try {
    return GrpcTypes.SubscribeCheckpointsRequest.fromBinary(octets);
  } catch (error) {
    throw new RpcFailure(Status.InvalidArgument, `malformed request message: ${(error as Error).message}`);
  }
}
