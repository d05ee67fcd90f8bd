import type { ComponentChildren, JSX } from "preact";
import type { Pages } from "../api/use-pages.ts";
import { Icon } from "./icon.tsx";

/**
 * A table that becomes one card per row on a narrow screen. It sets ARIA roles explicitly, because a browser drops the
 * implicit ones when the layout is no longer a table.
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

export interface DataColumn<Row> {
  readonly title: string;
  /** True for a column of numbers, which are right-aligned. */
  readonly isNumber?: boolean;
  cell(row: Row): ComponentChildren;
}

interface DataTableProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  readonly rows: readonly Row[];
  rowKey(row: Row): string;
  /** Replaces a table without rows. */
  readonly empty: ComponentChildren;
}

/** Buttons for the next and previous page of a list. Absent while the list has one page. */
export function Pager({ pages, of }: PagerProps): JSX.Element | null {
  const { pageNumber, toNext, toPrevious, isLoading } = pages;
  if (toNext === undefined && toPrevious === undefined) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      <button type="button" class="button" disabled={!toPrevious || isLoading} onClick={toPrevious}>
        <Icon name="previous" /> Previous
      </button>
      <span aria-live="polite">Page {pageNumber}</span>
      <button type="button" class="button" disabled={!toNext || isLoading} onClick={toNext}>
        Next <Icon name="next" />
      </button>
    </nav>
  );
}

interface PagerProps {
  readonly pages: Pick<Pages<unknown>, "pageNumber" | "toNext" | "toPrevious" | "isLoading">;
  /** The list's name for a screen reader, such as `projects`. */
  readonly of: string;
}
