import { create } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import { ChainOperation_Kind, ChainTransaction_State } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import {
  type GetLanesResponse,
  GetLanesResponseSchema,
  type GetOutboxResponse,
  GetOutboxResponseSchema,
  OutboxEntry_State,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { bigint, type Columns, nullable, number, oneOf, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { OutboxFigure } from "../metrics/read-database-figures.ts";

/** Reads the lanes of the network, including former ones, the oldest first. */
export function readLaneStatuses(db: Queryable, network: string): Promise<LaneStatusRow[]> {
  return readRows(db, lanes(network), LANE);
}

/** A lane with its open and its newest resolved transaction. */
interface LaneStatusRow {
  /** Object id of the OperatorCap. */
  readonly id: string;
  readonly fence: bigint;
  /** Null if no process holds the lane. */
  readonly leasedUntil: Date | null;
  readonly foreignDigest: string | null;
  readonly gasCoinCount: number;
  readonly unresolvedDigest: string | null;
  readonly unresolvedSince: Date | null;
  /** The number of attempts after the first. */
  readonly unresolvedSends: number | null;
  readonly resolvedDigest: string | null;
  readonly resolvedState: "landed" | "aborted" | "dropped" | null;
  readonly resolvedAt: Date | null;
}

const LANE: Columns<LaneStatusRow> = {
  id: text,
  fence: bigint,
  leasedUntil: nullable(time),
  foreignDigest: nullable(text),
  gasCoinCount: number,
  unresolvedDigest: nullable(text),
  unresolvedSince: nullable(time),
  unresolvedSends: nullable(number),
  resolvedDigest: nullable(text),
  resolvedState: nullable(oneOf("landed", "aborted", "dropped")),
  resolvedAt: nullable(time),
};

/** A lane has at most one unresolved transaction, so its newest resolved one is among its newest two. */
const lanes = (network: string): Sql => sql`
SELECT l.id, l.fence, CASE WHEN l.leased_until > now() THEN l.leased_until END AS "leasedUntil",
  l.foreign_digest AS "foreignDigest",
  (SELECT count(*)::int FROM gas_coin c WHERE c.lane_id = l.id AND NOT c.merged) AS "gasCoinCount",
  u.digest AS "unresolvedDigest", u.created_at AS "unresolvedSince", u.sends AS "unresolvedSends",
  r.digest AS "resolvedDigest", r.state AS "resolvedState", r.resolved_at AS "resolvedAt"
FROM lane l
LEFT JOIN LATERAL (
  SELECT digest, created_at, sends FROM chain_transaction
  WHERE network = l.network AND lane = l.id AND state = 'stored' LIMIT 1
) u ON true
LEFT JOIN LATERAL (
  SELECT digest, state, resolved_at FROM (
    SELECT digest, state, resolved_at FROM chain_transaction
    WHERE network = l.network AND lane = l.id ORDER BY created_at DESC LIMIT 2
  ) newest WHERE state <> 'stored' LIMIT 1
) r ON true
WHERE l.network = ${network} ORDER BY l.created_at, l.id`;

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
interface LaneFacts {
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
