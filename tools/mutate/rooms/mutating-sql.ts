/** Stands for `sql-template-tag` in a run of mutants: it notes which templates run, and changes the mutated one. */
import { readFileSync } from "node:fs";
import real, { type RawValue, type Sql } from "../../../node_modules/sql-template-tag/dist/index.js";
import { isActive, noteCovered } from "./in-test.ts";
import { markValues, splitValues } from "./sql-edits.ts";

export * from "../../../node_modules/sql-template-tag/dist/index.js";

/** Makes SQL of a template, as `sql-template-tag` does. */
export default function sql(strings: readonly string[], ...values: readonly RawValue[]): Sql {
  const edits = EDITS.get(markValues(strings));
  if (edits === undefined) return real(strings, ...values);
  noteCovered(edits.map(({ id }) => id));
  const active = edits.find(({ id }) => isActive(id));
  if (active === undefined) return real(strings, ...values);
  const changed = splitValues(active.after);
  return real(changed.strings, ...changed.values.map((number) => values[number]));
}

interface Edit {
  readonly id: string;
  readonly before: string;
  readonly after: string;
}

const EDITS = new Map<string, Edit[]>();
for (const edit of JSON.parse(
  readFileSync(new URL("../../../mutants/sql.json", import.meta.url), "utf8"),
) as Edit[])
  EDITS.set(edit.before, [...(EDITS.get(edit.before) ?? []), edit]);
