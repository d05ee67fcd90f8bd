import type { ComponentChildren, JSX } from "preact";
import { Icon } from "../value/icon.tsx";
import { RelativeTimes } from "../value/time.tsx";

/**
 * A table. With more than three columns it becomes one card per row on a narrow screen. It sets ARIA roles explicitly,
 * because a browser drops the implicit ones when the layout is no longer a table.
 */
export function DataTable<Row>(props: DataTableProps<Row>): JSX.Element {
  const { caption, columns, rows, rowKey, empty, sort } = props;
  if (rows.length === 0) return <>{empty}</>;
  return (
    <RelativeTimes.Provider value={true}>
      <div class="table-scroll">
        <table class={columns.length > TABLE_MAX_COLUMNS ? "table table-cards" : "table"} role="table">
          <caption class="visually-hidden">{caption}</caption>
          <thead role="rowgroup">
            <tr role="row">
              {columns.map((column) => (
                <Heading key={column.title} column={column} sort={column.text && sort} />
              ))}
            </tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <tr key={rowKey(row)} role="row">
                {columns.map(({ title, isNumber, cell }) => (
                  <td key={title} role="cell" data-label={title} class={isNumber ? "number" : undefined}>
                    <div class="cell">{cell(row)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </RelativeTimes.Provider>
  );
}

/** So many columns fit on a phone. */
const TABLE_MAX_COLUMNS = 3;

export interface DataColumn<Row> {
  readonly title: string;
  /** True for a column of numbers, which are right-aligned. */
  readonly isNumber?: boolean;
  /** True for a column that a list shows only once it is chosen. */
  readonly isExtra?: boolean;
  cell(row: Row): ComponentChildren;
  /**
   * The exact value as a plain text, by which a list is sorted and which its CSV has: a time in ISO 8601, a number
   * without grouped digits, a whole id. Empty if the row has none. Absent: not sorted and not exported.
   */
  text?(row: Row): string;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  /** Replaces a table without rows. */
  readonly empty: ComponentChildren;
  /** The order of the rows, and how to change it. Default: the titles are no buttons. */
  readonly sort?: TableSort;
}

/** The column by which rows are sorted. */
export interface TableSort {
  /** Empty: in the order of the service. */
  readonly title: string;
  readonly isDescending: boolean;
  set(title: string, isDescending: boolean): void;
}

function Heading<Row>({ column: { title, isNumber }, sort }: HeadingProps<Row>): JSX.Element {
  const isSorted = sort?.title === title;
  return (
    <th
      role="columnheader"
      scope="col"
      class={isNumber ? "number" : undefined}
      aria-sort={isSorted ? (sort.isDescending ? "descending" : "ascending") : undefined}
    >
      {sort === undefined ? (
        title
      ) : (
        <button type="button" class="sort" title={`Sort by ${title}`} onClick={() => sortNext(sort, title)}>
          {title}
          {isSorted && <Icon name={sort.isDescending ? "down" : "up"} />}
        </button>
      )}
    </th>
  );
}

interface HeadingProps<Row> {
  readonly column: DataColumn<Row>;
  readonly sort: TableSort | undefined;
}

/** The first click on a title sorts by it, the second turns the order around, and the third ends it. */
function sortNext({ title: current, isDescending, set }: TableSort, title: string): void {
  if (current !== title) set(title, false);
  else set(isDescending ? "" : title, !isDescending);
}
