import type { ComponentChildren, JSX } from "preact";

/**
 * A table that becomes a card for each row on a narrow screen. The roles are written out, because a browser forgets them
 * when the rows are no table rows for the layout any more.
 */
export function DataTable<Row>({ caption, columns, rows, rowKey, empty }: DataTableProps<Row>): JSX.Element {
  if (rows.length === 0) return <>{empty}</>;
  return (
    <div class="table-scroll">
      <table class="table" role="table">
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ title, isNumber }) => (
              <th key={title} role="columnheader" scope="col" class={isNumber ? "number" : undefined}>
                {title}
              </th>
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
  );
}

/** One column of a table. */
export interface DataColumn<Row> {
  readonly title: string;
  /** Whether it holds numbers, which align at the end. */
  readonly isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  /** Shown in place of a table without rows. */
  readonly empty: ComponentChildren;
}
