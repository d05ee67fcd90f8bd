import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ChainOperation_Kind, ChainTransaction_State } from "../../gen/proto/tss/v1/admin_pb.ts";
import {
  type GetLanesResponse,
  GetLanesResponseSchema,
  type GetOutboxResponse,
  GetOutboxResponseSchema,
  OutboxEntry_State,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import type { OutboxFigure } from "../observe/read-database-figures.ts";
import type { LaneStatusRow } from "./read-lane-statuses.ts";

export function encodeLanes(
  lanes: readonly LaneStatusRow[],
  { senderAddress, laneIds, readAt }: LaneFacts,
): GetLanesResponse {
  return create(GetLanesResponseSchema, {
    senderAddress,
    lanes: lanes.map((lane) => ({
      operatorCapId: lane.id,
      configured: laneIds.includes(lane.id),
      ...(lane.leasedUntil && { leaseEndTime: timestampFromDate(lane.leasedUntil) }),
      fence: lane.fence,
      gasCoinCount: lane.gasCoinCount,
      ...(lane.unresolvedDigest !== null && {
        unresolved: {
          txDigest: lane.unresolvedDigest,
          createTime: timestampFromDate(lane.unresolvedSince!),
          // The row does not count the first attempt.
          sendCount: lane.unresolvedSends! + 1,
        },
      }),
      ...(lane.foreignDigest !== null && { foreignTxDigest: lane.foreignDigest }),
      ...(lane.resolvedDigest !== null && {
        lastResolved: {
          txDigest: lane.resolvedDigest,
          state: ChainTransaction_State[lane.resolvedState!],
          ...(lane.resolvedAt && { resolveTime: timestampFromDate(lane.resolvedAt) }),
        },
      }),
    })),
    readTime: timestampFromDate(readAt),
  });
}

/** Facts about the lanes that are not in the database. */
export interface LaneFacts {
  /** The address that sends the transactions. */
  readonly senderAddress: string;
  /** The configured lanes. */
  readonly laneIds: readonly string[];
  readonly readAt: Date;
}

/** Encodes the open operations. */
export function encodeOutbox(figures: readonly OutboxFigure[], readAt: Date): GetOutboxResponse {
  return create(GetOutboxResponseSchema, {
    entries: figures.map(({ kind, state, count, oldestSeconds }) => ({
      kind: ChainOperation_Kind[kind],
      state: OutboxEntry_State[state],
      count,
      oldestCreateTime: timestampFromMs(Math.round(readAt.getTime() - oldestSeconds * 1000)),
    })),
    readTime: timestampFromDate(readAt),
  });
}
