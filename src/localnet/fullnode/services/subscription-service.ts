import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import type { Ledger } from "../objects/ledger.ts";
import type { MoveJson } from "../wire/move-json.ts";
import { type StreamingMethod, streaming, type TypedStream } from "../wire/node-methods.ts";
import { checkpointItems, eventItems, type ItemsOf, transactionItems } from "./ledger-items.ts";
import { cursorOf, endOf, type ScanItem } from "./ledger-scan.ts";

/**
 * Implements `sui.rpc.v2.SubscriptionService`: sends every new checkpoint, transaction or event that matches the filter,
 * in order and without gaps, from the moment of the call. As on a real node, the read mask of checkpoints is empty by
 * default. A checkpoint without a match sends a message with only its position. `toJson` renders events.
 */
export function subscriptionService(
  ledger: Ledger,
  toJson: MoveJson,
  faults: SubscriptionFaults,
): readonly StreamingMethod[] {
  const service = GrpcTypes.SubscriptionService;
  return [
    streaming(
      service,
      "SubscribeCheckpoints",
      GrpcTypes.SubscribeCheckpointsRequest,
      GrpcTypes.SubscribeCheckpointsResponse,
      (request, stream) =>
        follow(
          checkpointItems(request, [], toJson),
          stream,
          (item, cursor): GrpcTypes.SubscribeCheckpointsResponse => ({
            cursor,
            ...(item && { checkpoint: item.value }),
          }),
        ),
    ),
    streaming(
      service,
      "SubscribeTransactions",
      GrpcTypes.SubscribeTransactionsRequest,
      GrpcTypes.SubscribeTransactionsResponse,
      (request, stream) =>
        follow(
          transactionItems(request, ["digest"], toJson),
          stream,
          (item, checkpoint): GrpcTypes.SubscribeTransactionsResponse => ({
            watermark: watermark(item, checkpoint),
            ...(item && { transaction: item.value }),
          }),
        ),
    ),
    streaming(
      service,
      "SubscribeEvents",
      GrpcTypes.SubscribeEventsRequest,
      GrpcTypes.SubscribeEventsResponse,
      (request, stream) =>
        follow(
          eventItems(request, ["event_type"], toJson),
          stream,
          (item, checkpoint): GrpcTypes.SubscribeEventsResponse => ({
            watermark: watermark(item, checkpoint),
            ...(item && { event: item.value }),
          }),
        ),
    ),
  ];

  function follow<T, O>(
    itemsOf: ItemsOf<T>,
    stream: TypedStream<O>,
    message: (item: ScanItem<T> | undefined, checkpoint: bigint) => O,
  ): () => void {
    if (faults.isRefused()) throw new RpcFailure(Status.Unimplemented, "subscription service not enabled");
    return ledger.onCommit(({ checkpoint, executed }) => {
      // A genesis object or a system change without a transaction is in no checkpoint.
      const stored = executed.length === 0 ? undefined : ledger.checkpoint(checkpoint);
      if (stored === undefined) return;
      if (faults.isCut()) return stream.cut();
      const items = itemsOf(stored);
      for (const item of items.length === 0 ? [undefined] : items) stream.send(message(item, checkpoint));
    });
  }
}

/** Returns the position of an item, or the end of a checkpoint without one. */
function watermark(item: ScanItem<unknown> | undefined, checkpoint: bigint): GrpcTypes.Watermark {
  if (item === undefined) return { cursor: endOf(checkpoint), checkpoint };
  const cursor = cursorOf(checkpoint, item.transaction, item.event);
  return checkpoint === 0n ? { cursor } : { cursor, checkpoint: checkpoint - 1n };
}

/** Draws whether a subscription fails. */
export interface SubscriptionFaults {
  isRefused(): boolean;
  /** Returns whether to break the connection instead of sending the next checkpoint. */
  isCut(): boolean;
}
