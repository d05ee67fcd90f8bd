import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import type { Ledger, LedgerTransaction } from "../objects/ledger.ts";

/**
 * Walks over a range of checkpoints in either direction and yields the frames of a list: one for each item, and a last
 * one with the reason of the end. Ends early at the limit of the request, and after {@link MAX_SCANNED_CHECKPOINTS}.
 * Throws INVALID_ARGUMENT for an invalid range or cursor before the first frame.
 *
 * `itemsOf` returns the items of a checkpoint in ledger order. `lowestAvailable` is the first one that is not pruned.
 */
export function scanLedger<T>(
  ledger: Pick<Ledger, "checkpoint" | "latestCheckpoint">,
  lowestAvailable: bigint,
  request: ScanRequest,
  itemsOf: (stored: LedgerTransaction) => readonly ScanItem<T>[],
): Iterable<ScanFrame<T>> {
  const range = rangeOf(ledger.latestCheckpoint, lowestAvailable, request);
  return framesOf(ledger, range, itemsOf);
}

/** The range, cursors, order and limit of a list. */
export type ScanRequest = Pick<
  GrpcTypes.ListTransactionsRequest,
  "startCheckpoint" | "endCheckpoint" | "options"
>;

/** An item and its position, which only differs from the checkpoint's start if the checkpoint has several items. */
export interface ScanItem<T> {
  readonly value: T;
  /** The index of the transaction in the checkpoint. */
  readonly transaction: number;
  /** The index of the event in the transaction. */
  readonly event: number;
}

/** One message of a list. Only the last one has an end. */
export interface ScanFrame<T> {
  readonly value: T | undefined;
  readonly watermark: GrpcTypes.Watermark;
  readonly end: GrpcTypes.QueryEndReason | undefined;
}

/** The default and the maximum number of items in one list. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 500;
/** The maximum number of checkpoints that one list reads. */
export const MAX_SCANNED_CHECKPOINTS = 1_000;

/** Returns the cursor of an item, with the index of its transaction and its event. */
export function cursorOf(checkpoint: bigint, transaction: number, event: number): Uint8Array {
  const cursor = new DataView(new ArrayBuffer(CURSOR_BYTES));
  cursor.setBigUint64(0, checkpoint);
  cursor.setUint32(8, transaction);
  cursor.setUint32(12, event);
  return new Uint8Array(cursor.buffer);
}

/** Returns the cursor after everything in a checkpoint. */
export function endOf(checkpoint: bigint): Uint8Array {
  return cursorOf(checkpoint, MAX_INDEX, MAX_INDEX);
}

const CURSOR_BYTES = 16;
const MAX_INDEX = 2 ** 32 - 1;

interface ScanRange {
  /** The first checkpoint, and the one after the last. */
  readonly from: bigint;
  readonly to: bigint;
  readonly after: Uint8Array | undefined;
  readonly before: Uint8Array | undefined;
  readonly isDescending: boolean;
  readonly limit: number;
  /** Why the list ends at the end of the range. */
  readonly reason: GrpcTypes.QueryEndReason;
}

const { QueryEndReason: Reason } = GrpcTypes;

function rangeOf(latest: bigint, lowest: bigint, request: ScanRequest): ScanRange {
  const { startCheckpoint: start = 0n, endCheckpoint: end, options } = request;
  if (end !== undefined && start > end)
    throw new RpcFailure(Status.InvalidArgument, "start_checkpoint is after end_checkpoint");
  const after = parseCursor(options?.after, "after");
  const before = parseCursor(options?.before, "before");
  const isDescending = options?.ordering === GrpcTypes.Ordering.DESCENDING;
  const from = max(start, lowest, after === undefined ? 0n : checkpointOf(after));
  const tip = latest + 1n;
  const requested = end === undefined || end > tip ? tip : end;
  const isBefore = before !== undefined && checkpointOf(before) < requested;
  const to = isBefore ? checkpointOf(before) + 1n : requested;
  const isCursor = isDescending ? after !== undefined && checkpointOf(after) === from : isBefore;
  const isTip = !isDescending && (end === undefined || end > tip);
  return {
    from,
    to: to < from ? from : to,
    after,
    before,
    isDescending,
    limit: Math.min(Math.max(options?.limit ?? DEFAULT_LIMIT, 1), MAX_LIMIT),
    reason: isCursor ? Reason.CURSOR_BOUND : isTip ? Reason.LEDGER_TIP : Reason.CHECKPOINT_BOUND,
  };
}

function* framesOf<T>(
  ledger: Pick<Ledger, "checkpoint">,
  range: ScanRange,
  itemsOf: (stored: LedgerTransaction) => readonly ScanItem<T>[],
): Generator<ScanFrame<T>> {
  const { from, to, isDescending } = range;
  const step = isDescending ? -1n : 1n;
  let count = 0;
  let scanned = 0;
  /** The last checkpoint that the scan has covered. */
  let covered: bigint | undefined;
  for (let at = isDescending ? to - 1n : from; at >= from && at < to; at += step) {
    if (scanned === MAX_SCANNED_CHECKPOINTS) return yield endFrame(range, covered, Reason.SCAN_LIMIT);
    scanned++;
    const stored = ledger.checkpoint(at);
    const items = stored === undefined ? [] : itemsOf(stored);
    for (const { value, transaction, event } of isDescending ? items.toReversed() : items) {
      const cursor = cursorOf(at, transaction, event);
      if (range.after !== undefined && compare(cursor, range.after) <= 0) continue;
      if (range.before !== undefined && compare(cursor, range.before) >= 0) continue;
      count++;
      const isLast = count === range.limit;
      const watermark = { cursor, ...(covered !== undefined && { checkpoint: covered }) };
      yield { value, watermark, end: isLast ? Reason.ITEM_LIMIT : undefined };
      if (isLast) return;
    }
    covered = at;
  }
  yield endFrame(range, covered, range.reason);
}

/** Returns the last frame of a scan that has not reached its item limit. It resumes after the covered checkpoints. */
function endFrame(
  { from, to, after, before, isDescending }: ScanRange,
  covered: bigint | undefined,
  reason: GrpcTypes.QueryEndReason,
): ScanFrame<never> {
  const bound = isDescending ? after : before;
  if (reason === Reason.CURSOR_BOUND && bound !== undefined) {
    // The checkpoint that contains the bound is covered in part.
    const whole = isDescending ? checkpointOf(bound) + 1n : checkpointOf(bound) - 1n;
    const isKnown = whole >= from && whole < to;
    return {
      value: undefined,
      watermark: { cursor: bound, ...(isKnown && { checkpoint: whole }) },
      end: reason,
    };
  }
  const start = isDescending ? before : after;
  const cursor =
    covered === undefined
      ? (start ?? (isDescending ? cursorOf(to, 0, 0) : endOf(max(from, 1n) - 1n)))
      : isDescending
        ? cursorOf(covered, 0, 0)
        : endOf(covered);
  const watermark = { cursor, ...(covered !== undefined && { checkpoint: covered }) };
  return { value: undefined, watermark, end: reason };
}

function parseCursor(cursor: Uint8Array | undefined, name: string): Uint8Array | undefined {
  if (cursor !== undefined && cursor.length !== CURSOR_BYTES)
    throw new RpcFailure(Status.InvalidArgument, `invalid cursor: options.${name}`);
  return cursor;
}

function checkpointOf(cursor: Uint8Array): bigint {
  return new DataView(cursor.buffer, cursor.byteOffset).getBigUint64(0);
}

const compare = (a: Uint8Array, b: Uint8Array): number => Buffer.compare(a, b);

function max(first: bigint, ...others: readonly bigint[]): bigint {
  let greatest = first;
  for (const value of others) if (value > greatest) greatest = value;
  return greatest;
}
