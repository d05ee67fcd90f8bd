/** How much one list sends before it ends, so that no reader and no list fills the memory of the node. */
import { GrpcTypes } from "@mysten/sui/grpc";
import { expect, it } from "vitest";
import type { Ledger } from "../../../../src/localnet/fullnode/objects/ledger.ts";
import { ledgerLists } from "../../../../src/localnet/fullnode/services/ledger-lists.ts";

const MEBIBYTE = 1024 * 1024;
const CHECKPOINT_COUNT = 20;
/** A ledger with a transaction of one mebibyte in each checkpoint. */
const ledger = {
  latestCheckpoint: BigInt(CHECKPOINT_COUNT - 1),
  checkpoint: (checkpoint: bigint) => ({
    checkpoint,
    digest: `digest ${checkpoint}`,
    timestampMs: 0n,
    executed: GrpcTypes.ExecutedTransaction.toBinary(
      GrpcTypes.ExecutedTransaction.create({
        digest: `digest ${checkpoint}`,
        transaction: { bcs: { value: new Uint8Array(MEBIBYTE) } },
      }),
    ),
  }),
} as unknown as Ledger;

/** Reads one list, from the end of another one. */
function read(paths: readonly string[], after?: Uint8Array) {
  const method = ledgerLists(ledger, () => undefined).find(({ path }) => path.endsWith("/ListTransactions"))!;
  const request = GrpcTypes.ListTransactionsRequest.create({
    readMask: { paths: [...paths] },
    options: { limit: 500, ...(after && { after }) },
  });
  const sent: Uint8Array[] = [];
  let endedCount = 0;
  method.open(GrpcTypes.ListTransactionsRequest.toBinary(request), {
    send: (octets) => void sent.push(octets),
    end: () => void endedCount++,
    cut: () => {
      throw new Error("the list was cut");
    },
  });
  expect(endedCount).toBe(1);
  const frames = sent.map((octets) => GrpcTypes.ListTransactionsResponse.fromBinary(octets));
  return { frames, byteCount: sent.reduce((sum, { length }) => sum + length, 0) };
}

it("a list ends early once it has more than 8 MiB, and goes on from its cursor without a gap", () => {
  const digests: (string | undefined)[] = [];
  const reasons: (GrpcTypes.QueryEndReason | undefined)[] = [];
  let after: Uint8Array | undefined;
  do {
    const { frames, byteCount } = read(["digest", "transaction.bcs"], after);
    expect(byteCount).toBeLessThan(10 * MEBIBYTE);
    digests.push(...frames.flatMap(({ transaction }) => (transaction ? [transaction.digest] : [])));
    const last = frames.at(-1)!;
    reasons.push(last.end?.reason);
    after = last.watermark?.cursor;
  } while (reasons.at(-1) === GrpcTypes.QueryEndReason.SCAN_LIMIT && reasons.length < 10);
  expect(digests).toEqual(Array.from({ length: CHECKPOINT_COUNT }, (_, index) => `digest ${index}`));
  const { SCAN_LIMIT } = GrpcTypes.QueryEndReason;
  expect(reasons.slice(0, -1)).toEqual([SCAN_LIMIT, SCAN_LIMIT]);
  expect(reasons.at(-1)).not.toBe(SCAN_LIMIT);
});

it("only what the mask keeps counts", () => {
  const { frames } = read(["digest"]);
  expect(frames.filter(({ transaction }) => transaction !== undefined)).toHaveLength(CHECKPOINT_COUNT);
});
