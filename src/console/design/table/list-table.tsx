import type { ComponentChildren, JSX } from "preact";
import { useUrlFilter } from "../../address/use-url-filter.ts";
import type { Pages } from "../../api/use-pages.ts";
import { sortedRows } from "../../format/sorted.ts";
import { Loaded } from "../loaded.tsx";
import { Icon } from "../value/icon.tsx";
import { type DataColumn, DataTable, type TableSort } from "./data-table.tsx";
import { SORTED_SHOWN_COUNT, SortNote, useWholeList } from "./sort-note.tsx";
import { TableTools } from "./table-tools.tsx";

/**
 * A list of the service as a table: its columns are chosen, its rows sorted and exported, and its pages turned. The
 * page's address keeps all of that.
 */
export function ListTable<Row>(props: ListTableProps<Row>): JSX.Element {
  const { caption, pages, rows = pages.data?.items ?? [], rowKey, empty, filter, lines = 6 } = props;
  const [sortText, setSort] = useUrlFilter(`${pages.name}.sort`, "");
  const [hiddenText, setHidden] = useUrlFilter(
    `${pages.name}.hidden`,
    props.columns.flatMap(({ title, isExtra }) => (isExtra ? [title] : [])).join(),
  );
  const hidden = hiddenText.split(",");
  const columns = props.columns.filter(({ title }, index) => index === 0 || !hidden.includes(title));
  const by = columns.find(({ title, text }) => text !== undefined && sortText.replace(/^-/, "") === title);
  const sort: TableSort = {
    title: by?.title ?? "",
    isDescending: sortText.startsWith("-"),
    set: (title, isFalling) => setSort(isFalling && title !== "" ? `-${title}` : title),
  };
  const { isDescending } = sort;
  const whole = useWholeList(pages, by !== undefined);
  const sorted =
    by?.text === undefined
      ? rows
      : sortedRows(whole.rows ?? rows, { textOf: by.text, isNumber: by.isNumber === true, isDescending });
  const isOfMany = pages.toNext !== undefined || pages.toFirst !== undefined;
  return (
    <div class="list">
      {(Boolean(filter) || rows.length > 0) && (
        <div class="list-bar">
          {filter}
          {rows.length > 0 && (
            <TableTools
              caption={caption}
              columns={props.columns}
              hidden={hidden}
              sort={sort}
              onHide={(titles) => setHidden(titles.filter(Boolean).join())}
              readAll={pages.readAll}
            />
          )}
        </div>
      )}
      {sort.title !== "" && isOfMany && rows.length > 0 && (
        <SortNote title={sort.title} count={rows.length} whole={whole} />
      )}
      <Loaded call={pages} lines={lines}>
        {() => (
          <DataTable
            caption={caption}
            columns={columns}
            rows={sorted.slice(0, SORTED_SHOWN_COUNT)}
            rowKey={rowKey}
            empty={empty}
            sort={sort}
          />
        )}
      </Loaded>
      {whole.rows === undefined && <Pager pages={pages} of={caption.toLowerCase()} />}
    </div>
  );
}

interface ListTableProps<Row> {
  /** What the list has, such as `Sign requests`. Also the name of its file. */
  readonly caption: string;
  readonly pages: Pages<Row>;
  /** Newer states of the page's rows. Default: those of the page. */
  readonly rows?: readonly Row[];
  readonly columns: readonly DataColumn<Row>[];
  rowKey(row: Row): string;
  /** Replaces a list without rows. */
  readonly empty: ComponentChildren;
  /** The controls that choose the rows, left of the tools. Class `filters`. */
  readonly filter?: ComponentChildren;
  /** The height of the skeleton in lines. Default 6. */
  readonly lines?: number;
}

/** Buttons for the next and previous page of a list. Absent while the list has one page. */
function Pager({ pages, of }: PagerProps): JSX.Element | null {
  const { pageNumber, toNext, toPrevious, toFirst, isLoading } = pages;
  if (toNext === undefined && toFirst === undefined) return null;
  return (
    <nav class="pager" aria-label={`Pages of ${of}`}>
      {toFirst !== undefined && toPrevious === undefined ? (
        <button type="button" class="button" onClick={toFirst}>
          <Icon name="previous" /> First page
        </button>
      ) : (
        <button type="button" class="button" disabled={!toPrevious || isLoading} onClick={toPrevious}>
          <Icon name="previous" /> Previous
        </button>
      )}
      <span aria-live="polite">Page {pageNumber}</span>
      <button type="button" class="button" disabled={!toNext || isLoading} onClick={toNext}>
        Next <Icon name="next" />
      </button>
    </nav>
  );
}

interface PagerProps {
  readonly pages: Pick<Pages<unknown>, "pageNumber" | "toNext" | "toPrevious" | "toFirst" | "isLoading">;
  /** The list's name for a screen reader, such as `projects`. */
  readonly of: string;
}
