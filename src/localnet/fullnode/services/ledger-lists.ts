import { GrpcTypes } from "@mysten/sui/grpc";
import type { Ledger } from "../objects/ledger.ts";
import type { MoveJson } from "../wire/move-json.ts";
import { type StreamingMethod, streaming, type TypedStream } from "../wire/node-methods.ts";
import { checkpointItems, eventItems, type ItemsOf, transactionItems } from "./ledger-items.ts";
import { type ScanRequest, scanLedger } from "./ledger-scan.ts";
import { lowestCheckpoint } from "./ledger-service.ts";

/**
 * Implements the lists of `sui.rpc.v2.LedgerService`: checkpoints, transactions and events, filtered, in both
 * directions. Each list is a stream that ends by itself. `toJson` and `keptCheckpoints` as in `ledgerService`.
 */
export function ledgerLists(
  ledger: Ledger,
  toJson: MoveJson,
  keptCheckpoints: () => number = () => 0,
): readonly StreamingMethod[] {
  const service = GrpcTypes.LedgerService;
  const list = <T, O>(
    request: ScanRequest,
    itemsOf: ItemsOf<T>,
    stream: TypedStream<O>,
    message: (value: T | undefined, rest: ListRest) => O,
  ) => sendList(ledger, lowestCheckpoint(ledger, keptCheckpoints()), request, itemsOf, stream, message);
  return [
    streaming(
      service,
      "ListCheckpoints",
      GrpcTypes.ListCheckpointsRequest,
      GrpcTypes.ListCheckpointsResponse,
      (request, stream) =>
        list(
          request,
          checkpointItems(request, ["sequence_number", "digest"], toJson),
          stream,
          (checkpoint, rest): GrpcTypes.ListCheckpointsResponse => ({
            ...(checkpoint && { checkpoint }),
            ...rest,
          }),
        ),
    ),
    streaming(
      service,
      "ListTransactions",
      GrpcTypes.ListTransactionsRequest,
      GrpcTypes.ListTransactionsResponse,
      (request, stream) =>
        list(
          request,
          transactionItems(request, ["digest"], toJson),
          stream,
          (transaction, rest): GrpcTypes.ListTransactionsResponse => ({
            ...(transaction && { transaction }),
            ...rest,
          }),
        ),
    ),
    streaming(
      service,
      "ListEvents",
      GrpcTypes.ListEventsRequest,
      GrpcTypes.ListEventsResponse,
      (request, stream) =>
        list(
          request,
          eventItems(request, ["event_type"], toJson),
          stream,
          (event, rest): GrpcTypes.ListEventsResponse => ({ ...(event && { event }), ...rest }),
        ),
    ),
  ];
}

/** What every message of a list has besides its item. */
interface ListRest {
  readonly watermark: GrpcTypes.Watermark;
  readonly end?: GrpcTypes.QueryEnd;
}

/** The number of bytes after which a list ends early. It is below what a stream buffers for a slow reader. */
const MAX_LIST_BYTES = 8 * 1024 * 1024;

/** Sends a list. It ends early, as after too long a scan, if it becomes too large. */
function sendList<T, O>(
  ledger: Ledger,
  lowest: bigint,
  request: ScanRequest,
  itemsOf: ItemsOf<T>,
  stream: TypedStream<O>,
  message: (value: T | undefined, rest: ListRest) => O,
): () => void {
  let byteCount = 0;
  for (const { value, watermark, end } of scanLedger(ledger, lowest, request, itemsOf)) {
    byteCount += stream.send(
      message(value, { watermark, ...(end !== undefined && { end: { reason: end } }) }),
    );
    if (end === undefined && byteCount > MAX_LIST_BYTES) {
      stream.send(message(undefined, { watermark, end: { reason: GrpcTypes.QueryEndReason.SCAN_LIMIT } }));
      break;
    }
  }
  stream.end();
  return () => {};
}
