import pg from "pg";

/** The columns of a statement's result, by name. A result has these columns and no other. */
export type Columns<Row> = { readonly [Name in keyof Row]-?: Column<Row[Name]> };

/** The JavaScript type of a column's values. */
export interface Column<T> {
  /** The name of the type, for errors. */
  readonly type: string;
  /** Returns true if a value has the type. Never called with undefined. */
  readonly accepts: (value: unknown) => boolean;
  /** Carries the type for the compiler. It does not exist at run time. */
  readonly valueType?: T;
}

/** `text`, `uuid`, `varchar`. */
export const text: Column<string> = { type: "text", accepts: (value) => typeof value === "string" };
/** `smallint`, `integer`, `double precision`. */
export const number: Column<number> = { type: "number", accepts: (value) => typeof value === "number" };
/** `bigint`. */
export const bigint: Column<bigint> = { type: "bigint", accepts: (value) => typeof value === "bigint" };
/** `boolean`. */
export const boolean: Column<boolean> = { type: "boolean", accepts: (value) => typeof value === "boolean" };
/** `bytea`. */
export const bytea: Column<Uint8Array<ArrayBuffer>> = {
  type: "bytes",
  accepts: (value) => value instanceof Uint8Array,
};
/** `timestamptz`, `timestamp`. */
export const time: Column<Date> = { type: "time", accepts: (value) => value instanceof Date };

/** A column that may be NULL. */
export function nullable<T>(column: Column<T>): Column<T | null> {
  const { type, accepts } = column;
  return { type: `${type} or null`, accepts: (value) => value === null || accepts(value) };
}

/** The columns of a row that may be missing: each is NULL if it is. */
export function nullableColumns<Row>(
  columns: Columns<Row>,
): Columns<{ readonly [Name in keyof Row]: Row[Name] | null }> {
  const entries = Object.entries<Column<unknown>>(columns);
  return Object.fromEntries(entries.map(([name, column]) => [name, nullable(column)])) as never;
}

/** An array column. */
export function listOf<T>({ type, accepts }: Column<T>): Column<T[]> {
  return { type: `list of ${type}`, accepts: (value) => Array.isArray(value) && value.every(accepts) };
}

/** A text column with one of a few values, such as a state. */
export function oneOf<const T extends string>(...words: readonly T[]): Column<T> {
  const known = new Set<unknown>(words);
  return { type: words.join(" | "), accepts: (value) => known.has(value) };
}

/**
 * Returns the rows unchanged if each has exactly the declared columns. Throws a TypeError otherwise, which names the
 * column and never a value.
 */
export function checkRows<Row>(rows: readonly unknown[], columns: Columns<Row>): Row[] {
  const declared = Object.entries<Column<unknown>>(columns);
  for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
    for (const [name, { type, accepts }] of declared) {
      const value = row[name];
      if (value === undefined) throw new TypeError(`the statement returns no column ${name}`);
      if (!accepts(value)) throw new TypeError(`column ${name} of the result is not ${type}`);
    }
    if (Object.keys(row).length === declared.length) continue;
    const others = Object.keys(row).filter((name) => !(name in columns));
    throw new TypeError(`the statement returns columns that are not declared: ${others.join(", ")}`);
  }
  return rows as Row[];
}

const INT8 = 20;
const BYTEA = 17;

/**
 * The JavaScript types of columns: bigint for bigint, a Uint8Array with its own memory for bytea, and pg's defaults for
 * the rest. They belong to one pool, because Prisma's adapter and others need other types.
 */
export const columnTypes: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format === "binary") return pg.types.getTypeParser(oid, format);
    switch (Number(oid)) {
      case INT8:
        return (text: string) => BigInt(text);
      case BYTEA:
        return (text: string) => new Uint8Array(Buffer.from(text.slice(2), "hex"));
      default:
        return pg.types.getTypeParser(oid, format);
    }
  },
};
