import { GrpcTypes } from "@mysten/sui/grpc";
import { expect, test } from "vitest";
import type { LedgerTransaction } from "../../../../src/localnet/fullnode/objects/ledger.ts";
import {
  MAX_SCANNED_CHECKPOINTS,
  type ScanFrame,
  type ScanRequest,
  scanLedger,
} from "../../../../src/localnet/fullnode/services/ledger-scan.ts";

const { QueryEndReason: Reason, Ordering } = GrpcTypes;

/** A ledger whose checkpoint `n` has the items `n.0`, `n.1` and `n.2`. */
function ledgerUpTo(latestCheckpoint: bigint) {
  const checkpoint = (at: bigint) =>
    at > latestCheckpoint ? undefined : ({ checkpoint: at } as unknown as LedgerTransaction);
  return { latestCheckpoint, checkpoint };
}
const threeItems = ({ checkpoint }: LedgerTransaction) =>
  [0, 1, 2].map((event) => ({ value: `${checkpoint}.${event}`, transaction: 0, event }));

function scan(request: ScanRequest, { latest = 4n, lowest = 0n, itemsOf = threeItems } = {}) {
  return [...scanLedger(ledgerUpTo(latest), lowest, request, itemsOf)];
}
const valuesOf = (frames: readonly ScanFrame<string>[]) =>
  frames.flatMap(({ value }) => (value === undefined ? [] : [value]));
const ALL = ["0.0", "0.1", "0.2", "1.0", "1.1", "1.2", "2.0", "2.1", "2.2"];

test.each([Ordering.ASCENDING, Ordering.DESCENDING])(
  "pages of any size visit every item once, in order %i",
  (ordering) => {
    for (const limit of [1, 2, 3, 4, 8, 9, 10]) {
      const seen: string[] = [];
      let cursor: Uint8Array | undefined;
      let reason: number | undefined = Reason.ITEM_LIMIT;
      while (reason === Reason.ITEM_LIMIT) {
        const bound = ordering === Ordering.ASCENDING ? { after: cursor } : { before: cursor };
        const options = { limit, ordering, ...(cursor && bound) } as GrpcTypes.QueryOptions;
        const frames = scan({ options }, { latest: 2n });
        expect(frames.slice(0, -1).every(({ end }) => end === undefined)).toBe(true);
        expect(valuesOf(frames).length).toBeLessThanOrEqual(limit);
        seen.push(...valuesOf(frames));
        const last = frames.at(-1)!;
        reason = last.end;
        cursor = last.watermark.cursor;
      }
      expect(seen).toEqual(ordering === Ordering.ASCENDING ? ALL : ALL.toReversed());
      expect(reason).toBe(ordering === Ordering.ASCENDING ? Reason.LEDGER_TIP : Reason.CHECKPOINT_BOUND);
    }
  },
);

test("a list has at most 500 items", () => {
  expect(valuesOf(scan({ options: { limit: 100_000 } }, { latest: 400n }))).toHaveLength(500);
});

test("a scan without a match ends after a bounded number of checkpoints, and can be resumed there", () => {
  const last = 2n * BigInt(MAX_SCANNED_CHECKPOINTS);
  const itemsOf = (stored: LedgerTransaction) => (stored.checkpoint === last ? threeItems(stored) : []);
  const first = scan({}, { latest: last, itemsOf });
  expect(first).toMatchObject([
    { value: undefined, end: Reason.SCAN_LIMIT, watermark: { checkpoint: 999n } },
  ]);
  const after = first[0]!.watermark.cursor!;
  const second = scan({ options: { after } }, { latest: last, itemsOf });
  expect(second.at(-1)).toMatchObject({ end: Reason.SCAN_LIMIT });
  const third = scan({ options: { after: second.at(-1)!.watermark.cursor! } }, { latest: last, itemsOf });
  expect(valuesOf(third)).toEqual([`${last}.0`, `${last}.1`, `${last}.2`]);
});

test("a list ends at the requested range, at a cursor, or at the tip, and says which", () => {
  const ranged = scan({ startCheckpoint: 1n, endCheckpoint: 2n });
  expect(valuesOf(ranged)).toEqual(["1.0", "1.1", "1.2"]);
  expect(ranged.at(-1)).toMatchObject({ end: Reason.CHECKPOINT_BOUND, watermark: { checkpoint: 1n } });
  const before = ranged[1]!.watermark.cursor!;
  const bounded = scan({ startCheckpoint: 1n, options: { before } });
  expect(valuesOf(bounded)).toEqual(["1.0"]);
  expect(bounded.at(-1)).toMatchObject({ end: Reason.CURSOR_BOUND, watermark: { cursor: before } });
  expect(bounded.at(-1)!.watermark.checkpoint).toBeUndefined();
  expect(scan({}).at(-1)).toMatchObject({ end: Reason.LEDGER_TIP, watermark: { checkpoint: 4n } });
});

test("a list that waits beyond the tip resumes with the first new checkpoint", () => {
  const empty = scan({ startCheckpoint: 5n });
  expect(empty).toMatchObject([{ value: undefined, end: Reason.LEDGER_TIP }]);
  const options = { after: empty[0]!.watermark.cursor! };
  expect(valuesOf(scan({ startCheckpoint: 5n, options }, { latest: 5n }))).toEqual(["5.0", "5.1", "5.2"]);
});

test("pruned checkpoints are in no list", () => {
  expect(valuesOf(scan({}, { lowest: 4n }))).toEqual(["4.0", "4.1", "4.2"]);
});

test("an invalid cursor and a reversed range are refused before the first message", () => {
  const invalid = expect.objectContaining({ code: 3 });
  expect(() => scan({ options: { after: Uint8Array.of(1) } })).toThrow(invalid);
  expect(() => scan({ options: { before: new Uint8Array(17) } })).toThrow(invalid);
  expect(() => scan({ startCheckpoint: 2n, endCheckpoint: 1n })).toThrow(invalid);
});
