import sql, { type Sql } from "sql-template-tag";
import { bigint, type Columns, nullable, number, oneOf, text, time } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/** Reads the lanes of the network, including former ones, the oldest first. */
export function readLaneStatuses(db: Queryable, network: string): Promise<LaneStatusRow[]> {
  return readRows(db, lanes(network), LANE);
}

/** A lane with its open and its newest resolved transaction. */
export interface LaneStatusRow {
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
