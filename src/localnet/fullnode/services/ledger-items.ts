import { GrpcTypes } from "@mysten/sui/grpc";
import { checkpointProto, checkpointTransactions } from "../execution/executed-transaction.ts";
import type { LedgerTransaction } from "../objects/ledger.ts";
import { withEventJson, withJson } from "../wire/event-json.ts";
import type { MoveJson } from "../wire/move-json.ts";
import { type FieldMask, parseReadMask } from "../wire/read-mask.ts";
import { eventTest, transactionTest } from "./ledger-filter.ts";
import type { ScanItem } from "./ledger-scan.ts";

/** Returns what a list or a subscription takes from each checkpoint, in ledger order. */
export type ItemsOf<T> = (stored: LedgerTransaction) => readonly ScanItem<T>[];

/**
 * Selects the checkpoints with a transaction that matches the filter. `toJson` renders events. Throws INVALID_ARGUMENT
 * for an invalid mask or filter, as do the other two.
 */
export function checkpointItems(
  { readMask, filter }: ItemRequest<GrpcTypes.TransactionFilter>,
  defaults: readonly string[],
  toJson: MoveJson,
): ItemsOf<GrpcTypes.Checkpoint> {
  const mask = parseReadMask<GrpcTypes.Checkpoint>(GrpcTypes.Checkpoint, readMask, defaults);
  const matches = transactionTest(filter);
  return (stored) => {
    if (filter !== undefined && !checkpointTransactions(stored).some(matches)) return [];
    return [{ value: checkpointProto(stored, mask, toJson), transaction: 0, event: 0 }];
  };
}

/** Selects the transactions that match the filter. */
export function transactionItems(
  { readMask, filter }: ItemRequest<GrpcTypes.TransactionFilter>,
  defaults: readonly string[],
  toJson: MoveJson,
): ItemsOf<GrpcTypes.ExecutedTransaction> {
  const mask = parseReadMask<GrpcTypes.ExecutedTransaction>(
    GrpcTypes.ExecutedTransaction,
    readMask,
    defaults,
  );
  const matches = transactionTest(filter);
  return (stored) =>
    checkpointTransactions(stored).flatMap((executed, transaction) =>
      matches(executed)
        ? [{ value: mask.project(withEventJson(executed, mask, toJson)), transaction, event: 0 }]
        : [],
    );
}

/** Selects the events that match the filter, each with its place in the ledger. */
export function eventItems(
  { readMask, filter }: ItemRequest<GrpcTypes.EventFilter>,
  defaults: readonly string[],
  toJson: MoveJson,
): ItemsOf<GrpcTypes.Event> {
  const mask = parseReadMask<GrpcTypes.Event>(GrpcTypes.Event, readMask, defaults);
  const matches = eventTest(filter);
  return (stored) =>
    checkpointTransactions(stored).flatMap(({ digest, events }, transaction) =>
      (events?.events ?? []).flatMap((event, index) => {
        if (!matches(event)) return [];
        const place = {
          checkpoint: stored.checkpoint,
          transactionIndex: BigInt(transaction),
          eventIndex: index,
        };
        const shown = mask.keeps("json") ? withJson(event, toJson) : event;
        const value = mask.project({ ...shown, ...(digest && { transactionDigest: digest }), ...place });
        return [{ value, transaction, event: index }];
      }),
    );
}

interface ItemRequest<F> {
  readonly readMask?: FieldMask;
  readonly filter?: F | undefined;
}
