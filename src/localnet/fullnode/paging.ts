import { RpcFailure, Status } from "./failures.ts";

/** Returns one page of items that are in key order. The token is the last key of the previous page. */
export function pageOf<T>(
  items: readonly T[],
  key: (item: T) => string,
  pageSize: number | undefined,
  pageToken: Uint8Array | undefined,
): ListingPage<T> {
  const size = Math.min(
    pageSize === undefined || pageSize === 0 ? DEFAULT_PAGE_SIZE : pageSize,
    MAX_PAGE_SIZE,
  );
  const after = pageToken === undefined || pageToken.length === 0 ? undefined : decodeToken(pageToken);
  const start = after === undefined ? 0 : firstAfter(items, key, after);
  const page = items.slice(start, start + size);
  const last = page[page.length - 1];
  const more = start + page.length < items.length && last !== undefined;
  return { items: page, nextPageToken: more ? new TextEncoder().encode(key(last)) : undefined };
}

/** One page of a listing and the token of the next. */
export interface ListingPage<T> {
  readonly items: readonly T[];
  readonly nextPageToken: Uint8Array | undefined;
}

const DEFAULT_PAGE_SIZE = 50;
const MAX_PAGE_SIZE = 1_000;

function firstAfter<T>(items: readonly T[], key: (item: T) => string, after: string): number {
  const index = items.findIndex((item) => key(item) > after);
  return index < 0 ? items.length : index;
}

function decodeToken(token: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(token);
  } catch {
    throw new RpcFailure(Status.InvalidArgument, "invalid page_token");
  }
}
