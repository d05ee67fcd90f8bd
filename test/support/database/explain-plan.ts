import type { Queryable } from "../../../src/service/platform/store/database.ts";
import type { RecordedStatement } from "./recorded-statements.ts";

/** A step of a plan in EXPLAIN's form, with only the fields that the tests read. */
interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows"?: number;
  readonly "Actual Loops"?: number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Index Recheck"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** A table that a statement reads. */
export interface TableRead {
  readonly table: string;
  readonly how: string;
  /** Undefined if the statement was only planned. */
  readonly rows: number | undefined;
}

/**
 * Returns the tables that a statement reads: as planned for any parameters, which is the plan of a prepared statement,
 * and, if the statement changes nothing, as executed with its own parameters. `db` must be one session.
 */
export async function explainReads(db: Queryable, { text, values }: RecordedStatement): Promise<TableRead[]> {
  await db.query(`PREPARE looked_at AS ${text}`);
  await db.query("SET plan_cache_mode = force_generic_plan");
  const nothing = values.length === 0 ? "" : `(${values.map(() => "NULL").join(", ")})`;
  const generic = await db.query<Explained>(`EXPLAIN (FORMAT JSON) EXECUTE looked_at${nothing}`);
  await db.query("DEALLOCATE looked_at; RESET plan_cache_mode");
  const plans = [generic];
  if (!/\b(?:INSERT|UPDATE|DELETE)\b/.test(text))
    plans.push(await db.query<Explained>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values));
  return plans.flatMap(([row]) => row!["QUERY PLAN"].flatMap(({ Plan }) => readsOf(Plan)));
}

interface Explained {
  readonly "QUERY PLAN": readonly { readonly Plan: PlanNode }[];
}

function readsOf(node: PlanNode): TableRead[] {
  const below = (node.Plans ?? []).flatMap(readsOf);
  const table = node["Relation Name"];
  if (table === undefined || node["Node Type"] === "ModifyTable") return below;
  const perLoop =
    node["Actual Rows"] === undefined
      ? undefined
      : node["Actual Rows"] +
        (node["Rows Removed by Filter"] ?? 0) +
        (node["Rows Removed by Index Recheck"] ?? 0);
  const rows = perLoop === undefined ? undefined : perLoop * (node["Actual Loops"] ?? 1);
  return [{ table, how: node["Node Type"], rows }, ...below];
}
