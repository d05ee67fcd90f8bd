import type { JSX } from "preact";
import type { Pages } from "../api/use-pages.ts";
import { Icon } from "./icon.tsx";

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
