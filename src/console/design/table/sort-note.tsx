import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type FailureText, failureText } from "../../api/failure-text.ts";
import { type Pages, READ_ALL_MAX_COUNT } from "../../api/use-pages.ts";
import { formatCount } from "../../format/text.ts";
import { FailureNotice } from "../loaded.tsx";

/** The number of rows that a sorted list shows. The service's largest page has as many. */
export const SORTED_SHOWN_COUNT = 200;

/**
 * Reads every row of a list on request, for a sort by a column that the service does not sort by. Another filter and the
 * end of the sort forget the rows.
 */
export function useWholeList<Row>(pages: Pages<Row>, isSorted: boolean): WholeList<Row> {
  const [read, setRead] = useState<{ readonly subject: string; readonly rows: readonly Row[] }>();
  const [isReading, setIsReading] = useState(false);
  const [failure, setFailure] = useState<FailureText>();
  const running = useRef<AbortController | undefined>(undefined);
  const { subject } = pages;
  useEffect(() => {
    if (!isSorted) setRead(undefined);
    setFailure(undefined);
    setIsReading(false);
    return () => running.current?.abort();
  }, [subject, isSorted]);
  return {
    rows: isSorted && read?.subject === subject ? read.rows : undefined,
    isReading,
    failure,
    async load() {
      const abort = new AbortController();
      running.current = abort;
      setIsReading(true);
      setFailure(undefined);
      try {
        const rows = await pages.readAll(abort.signal);
        if (!abort.signal.aborted) setRead({ subject, rows });
      } catch (cause) {
        if (!abort.signal.aborted) setFailure(failureText(cause));
      }
      if (!abort.signal.aborted) setIsReading(false);
    },
  };
}

/** All rows of a list, or what became of reading them. */
interface WholeList<Row> {
  /** Undefined until they are read. */
  readonly rows: readonly Row[] | undefined;
  readonly isReading: boolean;
  readonly failure: FailureText | undefined;
  load(): Promise<void>;
}

/** Says among which rows a list with several pages is sorted, and offers to sort all. */
export function SortNote({ title, count, whole }: SortNoteProps): JSX.Element {
  const { rows, isReading, failure, load } = whole;
  if (failure !== undefined)
    return <FailureNotice failure={failure} isLoading={isReading} onRetry={() => void load()} />;
  return (
    <div class="sort-note">
      <span role="status">
        {isReading
          ? "Reading the list…"
          : rows === undefined
            ? `Sorted by “${title}” within the ${formatCount(count)} rows of this page.`
            : sortedText(title, rows.length)}
      </span>
      <button type="button" class="button button-small" disabled={isReading} onClick={() => void load()}>
        {rows === undefined ? "Sort all rows" : "Read again"}
      </button>
    </div>
  );
}

interface SortNoteProps {
  /** The title of the column. */
  readonly title: string;
  /** The number of rows of the page. */
  readonly count: number;
  readonly whole: WholeList<unknown>;
}

/** Says how many rows were sorted, and how many of them are shown. */
export function sortedText(title: string, count: number): string {
  const all =
    count < READ_ALL_MAX_COUNT ? `all ${formatCount(count)} rows` : `the first ${formatCount(count)} rows`;
  const shown =
    count > SORTED_SHOWN_COUNT ? ` The table shows the first ${SORTED_SHOWN_COUNT}; the CSV has all.` : "";
  return `Sorted by “${title}” among ${all}.${shown}`;
}
