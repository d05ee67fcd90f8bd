import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import {
  type ListUserUsageResponse,
  ListUserUsageResponseSchema,
} from "../../../gen/proto/tss/v1/billing_pb.ts";
import { invalidField } from "../platform/errors/service-error.ts";
import { HOUR_MS } from "../platform/lifecycle/clock.ts";
import { bigint, type Columns, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { type PageRequest, readPage } from "../platform/store/read-page.ts";

/**
 * Reads a page of what each of the project's users was charged in whole hours (UTC), the highest spending first. Reads the
 * rows of these hours: one per user, hour and kind. A page token has the window of the first page. Throws VALIDATION for a
 * window that is empty or too long, and for a token of another project.
 */
export async function listUserUsage(
  db: Queryable,
  projectId: string,
  { start, end, ...request }: UserUsageRequest,
  now: Date,
): Promise<UserUsagePage> {
  let hours = hoursOf({ start, end }, now);
  const { rows, nextPageToken } = await readPage<UserUsageRow>(
    { ...request, pageSize: Math.min(request.pageSize, PAGE_MAX_COUNT) },
    {
      scope: ["user_usage", projectId],
      positionOf: ({ chargedMicroUsd, userReference }) =>
        `${hours.start.getTime()}:${hours.end.getTime()}:${chargedMicroUsd}:${userReference}`,
      position: POSITION,
      read(after, count) {
        const position = after === undefined ? undefined : positionIn(after);
        if (position !== undefined) hours = hoursOf(position.window, now);
        return readRows(db, sums(projectId, hours, position, count), USER_USAGE);
      },
    },
  );
  return { ...hours, rows, nextPageToken };
}

interface UserUsageRequest extends PageRequest, AskedWindow {}

interface AskedWindow {
  /** Default: 30 days before the end. */
  readonly start: Date | undefined;
  /** Default: now. */
  readonly end: Date | undefined;
}

/** A page of users with the hours that it covers. */
interface UserUsagePage extends Hours {
  readonly rows: readonly UserUsageRow[];
  readonly nextPageToken: string;
}

/** What a user was charged. */
interface UserUsageRow {
  readonly userReference: string;
  readonly signCount: bigint;
  readonly dwalletCount: bigint;
  readonly shareCount: bigint;
  readonly refundCount: bigint;
  /** The charges minus the refunds. */
  readonly chargedMicroUsd: bigint;
}

const USER_USAGE: Columns<UserUsageRow> = {
  userReference: text,
  signCount: bigint,
  dwalletCount: bigint,
  shareCount: bigint,
  refundCount: bigint,
  chargedMicroUsd: bigint,
};

const PAGE_MAX_COUNT = 100;
const DAY_MS = 24 * HOUR_MS;
const WINDOW_DEFAULT_MS = 30 * DAY_MS;
const WINDOW_MAX_DAYS = 31;

/** Whole hours from `start` up to, but without, `end`. */
interface Hours {
  readonly start: Date;
  readonly end: Date;
}

function hoursOf({ start, end }: AskedWindow, now: Date): Hours {
  const endMs = Math.ceil((end ?? now).getTime() / HOUR_MS) * HOUR_MS;
  const startMs =
    start === undefined ? endMs - WINDOW_DEFAULT_MS : Math.floor(start.getTime() / HOUR_MS) * HOUR_MS;
  if (startMs >= endMs) throw invalidField("start_time", "must be before the end of the window");
  if (endMs - startMs > WINDOW_MAX_DAYS * DAY_MS + HOUR_MS)
    throw invalidField("start_time", `must be at most ${WINDOW_MAX_DAYS} days before the end of the window`);
  return { start: new Date(startMs), end: new Date(endMs) };
}

/** The window in milliseconds since 1970, the spending of a user and the user's reference. */
const POSITION = /^\d{1,15}:\d{1,15}:-?\d{1,18}:[ -~]{1,128}$/;

interface Position {
  readonly window: Hours;
  readonly chargedMicroUsd: string;
  readonly userReference: string;
}

function positionIn(position: string): Position {
  const [start = "", end = "", chargedMicroUsd = "", ...reference] = position.split(":");
  return {
    window: { start: new Date(Number(start)), end: new Date(Number(end)) },
    chargedMicroUsd,
    userReference: reference.join(":"),
  };
}

function sums(projectId: string, { start, end }: Hours, after: Position | undefined, count: number): Sql {
  const later =
    after === undefined
      ? sql``
      : sql`WHERE u."chargedMicroUsd" < ${after.chargedMicroUsd}::bigint
  OR (u."chargedMicroUsd" = ${after.chargedMicroUsd}::bigint AND u."userReference" > ${after.userReference})`;
  return sql`
SELECT * FROM (
  SELECT user_reference AS "userReference",
    coalesce(sum(entry_count) FILTER (WHERE kind = 'sign'), 0)::bigint AS "signCount",
    coalesce(sum(entry_count) FILTER (WHERE kind = 'dkg'), 0)::bigint AS "dwalletCount",
    coalesce(sum(entry_count) FILTER (WHERE kind = 'share'), 0)::bigint AS "shareCount",
    coalesce(sum(entry_count) FILTER (WHERE kind IN ('refund', 'dkg_refund', 'share_refund')), 0)::bigint AS "refundCount",
    (-sum(amount_micro_usd))::bigint AS "chargedMicroUsd"
  FROM ledger_user_hour WHERE project_id = ${projectId} AND hour >= ${start} AND hour < ${end}
  GROUP BY user_reference
) u ${later}
ORDER BY u."chargedMicroUsd" DESC, u."userReference" LIMIT ${count}`;
}

/** Encodes a page of users. */
export function encodeUserUsage({ start, end, rows, nextPageToken }: UserUsagePage): ListUserUsageResponse {
  return create(ListUserUsageResponseSchema, {
    users: [...rows],
    nextPageToken,
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
  });
}
