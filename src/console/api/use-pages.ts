import { Code, ConnectError } from "@connectrpc/connect";
import { useRef } from "preact/hooks";
import { type ListPlace, placeOf, placeText } from "../address/hash-parameters.ts";
import { useUrlFilter } from "../address/use-url-filter.ts";
import { type LiveCall, useCall } from "./use-call.ts";

/**
 * Reads a list page by page. The page's address keeps the place, as in `#/signs?signs.page=3.dG9rZW4`, so that Back and
 * a link lead to it. A changed filter, which the address also keeps, returns to the first page.
 *
 * @param name the list's name in the address: unique in a page of the console
 */
export function usePages<Item>(
  name: string,
  load: LoadPage<Item>,
  inputs: readonly unknown[],
  options: { readonly everyMs?: number } = {},
): Pages<Item> {
  const [text, setText] = useUrlFilter(`${name}.page`, "");
  const place = placeOf(text);
  const subject = JSON.stringify(inputs);
  const known = useRef<Tokens>({ subject, tokens: new Map() });
  if (known.current.subject !== subject) known.current = { subject, tokens: new Map() };
  const { tokens } = known.current;
  tokens.set(place.number, place.token);
  const call = useCall(
    (signal) => load({ pageToken: place.token, pageSize: 0 }, signal),
    [inputs, place.token],
    options,
  );
  const nextToken = call.data?.nextPageToken;
  const goTo = (to: ListPlace) => () => setText(placeText(to));
  // After a reload, the address has only the token of its own page.
  const before = tokens.get(place.number - 1);
  return {
    ...call,
    name,
    subject,
    pageNumber: place.number,
    toNext: nextToken ? goTo({ number: place.number + 1, token: nextToken }) : undefined,
    toPrevious:
      place.number > 1 && before !== undefined
        ? goTo({ number: place.number - 1, token: before })
        : undefined,
    toFirst: place.number > 1 ? goTo({ number: 1, token: "" }) : undefined,
    readAll: (signal) => readAll(load, signal),
  };
}

/** Reads the page of a list that a token stands for. An empty token is the first page, a size of 0 the usual one. */
export type LoadPage<Item> = (
  at: { readonly pageToken: string; readonly pageSize: number },
  signal: AbortSignal,
) => Promise<ListPage<Item>>;

/** One page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly nextPageToken: string;
}

/** A list with navigation between its pages. */
export interface Pages<Item> extends LiveCall<ListPage<Item>> {
  /** The list's name in the address. */
  readonly name: string;
  /** Differs between lists with different filters. */
  readonly subject: string;
  /** Counts from 1. */
  readonly pageNumber: number;
  /** Undefined on the last page, and until the page is loaded. */
  readonly toNext: (() => void) | undefined;
  /** Undefined on the first page, and after a reload, which forgets the way. */
  readonly toPrevious: (() => void) | undefined;
  /** Undefined on the first page. */
  readonly toFirst: (() => void) | undefined;
  /** Reads the whole list with the same filter, up to {@link READ_ALL_MAX_COUNT} items. */
  readAll(signal: AbortSignal): Promise<readonly Item[]>;
}

interface Tokens {
  readonly subject: string;
  /** The tokens of the pages that were open, by number. */
  readonly tokens: Map<number, string>;
}

/** The maximum number of items that {@link readAll} reads. */
export const READ_ALL_MAX_COUNT = 10_000;
const READ_ALL_PAGE_SIZE = 200;
/** A service may give fewer items than asked for, but not forever. */
const READ_ALL_MAX_PAGES = 200;

/**
 * Reads a list from its first page on, and stops at {@link READ_ALL_MAX_COUNT} items. Rejects if a page fails, if the
 * signal aborts, and if the list does not end after 200 pages.
 */
export async function readAll<Item>(load: LoadPage<Item>, signal: AbortSignal): Promise<readonly Item[]> {
  const items: Item[] = [];
  let pageToken = "";
  for (let count = 0; count < READ_ALL_MAX_PAGES; count++) {
    signal.throwIfAborted();
    const page = await load({ pageToken, pageSize: READ_ALL_PAGE_SIZE }, signal);
    items.push(...page.items);
    pageToken = page.nextPageToken;
    if (pageToken === "" || items.length >= READ_ALL_MAX_COUNT) return items.slice(0, READ_ALL_MAX_COUNT);
  }
  throw new ConnectError("the service gives pages with few rows and without an end", Code.DataLoss);
}
