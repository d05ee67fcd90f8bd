import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { type FailureText, failureText } from "../../api/failure-text.ts";
import { READ_ALL_MAX_COUNT } from "../../api/use-pages.ts";
import { csvFormOf, csvText } from "../../format/csv.ts";
import { formatCount } from "../../format/text.ts";
import { SelectField } from "../form/field.tsx";
import { FailureNotice } from "../loaded.tsx";
import { Menu } from "../menu.tsx";
import { saveFile } from "../save-file.ts";
import { Icon } from "../value/icon.tsx";
import type { DataColumn, TableSort } from "./data-table.tsx";

/** What a reader does with a list: chooses its columns and their order, and saves it as CSV. */
export function TableTools<Row>(props: TableToolsProps<Row>): JSX.Element {
  const { caption, columns, hidden, readAll } = props;
  const shown = columns.filter(({ title }, index) => index === 0 || !hidden.includes(title));
  return (
    <div class="table-tools">
      <ExportButton caption={caption} columns={shown} readAll={readAll} />
      <Menu
        isSmall
        icon="columns"
        label={
          <>
            View<span class="visually-hidden"> of {caption}</span>
          </>
        }
      >
        <View {...props} />
      </Menu>
    </div>
  );
}

/** The order of the rows, and the columns. The first column is always shown. */
function View<Row>({ columns, hidden, sort, onHide }: TableToolsProps<Row>): JSX.Element {
  return (
    <>
      <SelectField
        label="Sort by"
        options={orderOptions(columns)}
        value={sort.title}
        onSelect={(title) => sort.set(title, false)}
      />
      {sort.title !== "" && (
        <label class="check">
          <input
            type="checkbox"
            checked={sort.isDescending}
            onChange={() => sort.set(sort.title, !sort.isDescending)}
          />
          greatest first
        </label>
      )}
      <fieldset class="field">
        <legend>Columns</legend>
        {columns.slice(1).map(({ title }) => (
          <label key={title} class="check">
            <input
              type="checkbox"
              checked={!hidden.includes(title)}
              onChange={({ currentTarget }) =>
                onHide(currentTarget.checked ? hidden.filter((one) => one !== title) : [...hidden, title])
              }
            />
            {title}
          </label>
        ))}
      </fieldset>
    </>
  );
}

interface TableToolsProps<Row> {
  readonly caption: string;
  readonly columns: readonly DataColumn<Row>[];
  /** The titles of the columns that are not shown. The first column always is. */
  readonly hidden: readonly string[];
  readonly sort: TableSort;
  onHide(titles: readonly string[]): void;
  /** Reads every row that fits the filter. */
  readAll(signal: AbortSignal): Promise<readonly Row[]>;
}

function orderOptions<Row>(columns: readonly DataColumn<Row>[]): (readonly [string, string])[] {
  const sortable = columns.filter(({ text }) => text !== undefined);
  return [["", "as the service lists it"], ...sortable.map(({ title }) => [title, title] as const)];
}

/** Saves the shown columns of every row that fits the filter. */
function ExportButton<Row>({ caption, columns, readAll }: ExportButtonProps<Row>): JSX.Element {
  const [isRunning, setIsRunning] = useState(false);
  const [said, setSaid] = useState("");
  const [failure, setFailure] = useState<FailureText>();
  const [leaving] = useState(() => new AbortController());
  useEffect(() => () => leaving.abort(), [leaving]);
  async function save(): Promise<void> {
    setIsRunning(true);
    setFailure(undefined);
    try {
      const rows = await readAll(leaving.signal);
      // A reader who has left, or signed out, gets no file.
      if (leaving.signal.aborted) return;
      saveFile(
        `${caption.toLowerCase().replaceAll(/\W+/g, "-")}.csv`,
        "text/csv;charset=utf-8",
        csvOf(columns, rows),
      );
      setSaid(savedText(rows.length));
    } catch (cause) {
      if (leaving.signal.aborted) return;
      setFailure(failureText(cause));
    }
    setIsRunning(false);
  }
  return (
    <>
      {failure !== undefined && (
        <FailureNotice failure={failure} isLoading={isRunning} onRetry={() => void save()} />
      )}
      <span class="small muted" role="status">
        {isRunning ? "Reading the list…" : said}
      </span>
      <button type="button" class="button button-small" disabled={isRunning} onClick={() => void save()}>
        <Icon name="save" /> CSV<span class="visually-hidden"> of {caption}</span>
      </button>
    </>
  );
}

type ExportButtonProps<Row> = Pick<TableToolsProps<Row>, "caption" | "columns" | "readAll">;

function csvOf<Row>(columns: readonly DataColumn<Row>[], rows: readonly Row[]): string {
  const saved = columns.flatMap(({ title, text }) => (text === undefined ? [] : [{ title, text }]));
  return csvText(
    saved.map(({ title }) => title),
    rows.map((row) => saved.map(({ text }) => text(row))),
    csvFormOf(),
  );
}

function savedText(count: number): string {
  const rows = `${formatCount(count)} ${count === 1 ? "row" : "rows"} saved`;
  return count < READ_ALL_MAX_COUNT ? rows : `${rows}, which is the most that one file has`;
}
