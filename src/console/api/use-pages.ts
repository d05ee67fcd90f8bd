import { useState } from "preact/hooks";
import { type LiveCall, useCall } from "./use-call.ts";

/** Reads a list page by page. A changed input, such as a filter, returns to the first page. */
export function usePages<Item>(
  load: (pageToken: string, signal: AbortSignal) => Promise<ListPage<Item>>,
  inputs: readonly unknown[],
  options: { readonly everyMs?: number } = {},
): Pages<Item> {
  const subject = JSON.stringify(inputs);
  const [place, setPlace] = useState<Place>({ subject, tokens: [""] });
  const tokens = place.subject === subject ? place.tokens : [""];
  const call = useCall((signal) => load(tokens.at(-1) ?? "", signal), [subject, tokens], options);
  const nextToken = call.data?.nextPageToken;
  return {
    ...call,
    pageNumber: tokens.length,
    toNext: nextToken ? () => setPlace({ subject, tokens: [...tokens, nextToken] }) : undefined,
    toPrevious: tokens.length > 1 ? () => setPlace({ subject, tokens: tokens.slice(0, -1) }) : undefined,
  };
}

/** One page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

/** A list with navigation between its pages. */
export interface Pages<Item> extends LiveCall<ListPage<Item>> {
  /** Counts from 1. */
  readonly pageNumber: number;
  /** Undefined on the last page, and until the page is loaded. */
  readonly toNext: (() => void) | undefined;
  /** Undefined on the first page. */
  readonly toPrevious: (() => void) | undefined;
}

interface Place {
  readonly subject: string;
  /** The tokens of the pages up to the current one; that of the first page is empty. */
  readonly tokens: readonly string[];
}
