import { create } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql from "sql-template-tag";
import {
  type ExitDrill,
  ExitDrill_Outcome,
  ExitDrill_OutcomeSchema,
  ExitDrillSchema,
  type ReportExitDrillRequest,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { ProjectCaller } from "../access/caller.ts";
import { auditInsert } from "../audit/audit-event.ts";
import { invalidField } from "../platform/errors/service-error.ts";
import { boolean } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { type Reaching, withinReach } from "../users/reach.ts";

/**
 * Stores a report of a rehearsed exit, unless the dWallet has an equally new one. It is the word of the project's key, and
 * nothing reads it but the project. A time ahead of the database's is stored as the database's, so that no report stands in
 * the way of later ones. A dWallet beyond the caller's reach is left alone. Throws VALIDATION for a time more than five
 * minutes ahead.
 */
export async function storeExitDrill(
  db: Queryable,
  caller: Reaching & Pick<ProjectCaller, "origin">,
  { dwalletId, outcome, checkTime }: Pick<ReportExitDrillRequest, "dwalletId" | "outcome" | "checkTime">,
): Promise<void> {
  if (checkTime === undefined) throw invalidField("check_time", "is missing");
  const at = timestampDate(checkTime);
  const rows = await readRows(
    db,
    sql`
WITH report AS (
  SELECT LEAST(${at}::timestamptz(3), now()::timestamptz(3)) AS at,
    ${at}::timestamptz(3) > now() + ${MAX_AHEAD_MS} * interval '1 millisecond' AS is_ahead
), stored AS (
  UPDATE dwallet d SET exit_drill_at = report.at, exit_drill_outcome = ${nameOf(outcome)}
  FROM report
  WHERE ${withinReach(caller, sql`d`)} AND d.object_id = ${dwalletId} AND NOT report.is_ahead
    AND (d.exit_drill_at IS NULL OR d.exit_drill_at < report.at)
  RETURNING d.id, d.project_id
), audited AS (${auditInsert("dwallet.exit-drill", sql`stored`, caller.origin)})
SELECT is_ahead AS "isAhead" FROM report`,
    { isAhead: boolean },
  );
  if (rows[0]?.isAhead) throw invalidField("check_time", "is more than five minutes in the future");
}

/** Encodes the last reported exit drill of a dWallet; undefined if there is none. */
export function encodeExitDrill(row: ExitDrillRow): ExitDrill | undefined {
  if (row.exitDrillAt === null) return undefined;
  const outcome = Object.values(ExitDrill_Outcome).find((each) => nameOf(each) === row.exitDrillOutcome);
  return create(ExitDrillSchema, {
    outcome: outcome ?? ExitDrill_Outcome.OUTCOME_UNSPECIFIED,
    checkTime: timestampFromDate(row.exitDrillAt),
  });
}

/** The database stores the contract's name. */
function nameOf(outcome: ExitDrill_Outcome): string | null {
  return ExitDrill_OutcomeSchema.value[outcome]?.name ?? null;
}

/** The columns of a dWallet's last exit drill. */
export interface ExitDrillRow {
  readonly exitDrillAt: Date | null;
  readonly exitDrillOutcome: string | null;
}

/** How far ahead of the database's clock a signer's clock may be. */
const MAX_AHEAD_MS = 300_000;
