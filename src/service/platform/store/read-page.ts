import { createHash } from "node:crypto";
import { invalidField } from "../errors/service-error.ts";

/** Reads one page of a list. Throws VALIDATION, naming `page_token`, for a token of another list. */
export async function readPage<Row>(
  { pageSize, pageToken }: PageRequest,
  { scope, positionOf, position, read }: PagedList<Row>,
): Promise<Page<Row>> {
  const count = pageSize === 0 ? DEFAULT_COUNT : Math.min(pageSize, MAX_COUNT);
  const after = pageToken === "" ? undefined : openToken(scope, pageToken);
  if (pageToken !== "" && (after === undefined || !position.test(after))) {
    throw invalidField("page_token", "does not belong to this list with this filter");
  }
  // One extra row shows whether there is another page.
  const rows = await read(after, count + 1);
  const last = rows.length > count ? rows[count - 1] : undefined;
  return {
    rows: rows.slice(0, count),
    nextPageToken: last === undefined ? "" : sealToken(scope, positionOf(last)),
  };
}

/** The common fields of a list request. */
export interface PageRequest {
  /** 0 means 50, and more than 200 means 200. The contract's rules refuse a negative size. */
  readonly pageSize: number;
  /** Empty for the first page. */
  readonly pageToken: string;
}

/** A list that is read in pages. */
export interface PagedList<Row> {
  /** The name of the list, the project and the filter. A token of another scope is refused. */
  readonly scope: readonly string[];
  /** The position of a row. The next page begins after it. */
  readonly positionOf: (row: Row) => string;
  /** The format of a position. */
  readonly position: RegExp;
  /** Reads the first `count` rows after the position, or from the beginning if it is undefined. */
  readonly read: (after: string | undefined, count: number) => Promise<readonly Row[]>;
}

/** One page of a list. */
export interface Page<Row> {
  readonly rows: readonly Row[];
  /** Empty at the end. */
  readonly nextPageToken: string;
}

/** The format of a position that is a UUIDv7. Such ids sort by time. */
export const UUID_POSITION = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const DEFAULT_COUNT = 50;
const MAX_COUNT = 200;

/**
 * This part of the digest distinguishes tokens of different lists. It protects nothing, because a token grants no
 * rights.
 */
const SCOPE_BYTES = 8;

/**
 * Creates a token that carries a text and belongs to a scope, such as a list with its project and filter. Callers treat
 * it as opaque base64url. It is neither secret nor signed, so the text must not contain anything that the caller may
 * not know, and must not extend the caller's rights.
 */
export function sealToken(scope: readonly string[], text: string): string {
  return Buffer.concat([scopeDigest(scope), Buffer.from(text, "utf8")]).toString("base64url");
}

/** Returns the text of a token of this scope, or undefined. */
export function openToken(scope: readonly string[], token: string): string | undefined {
  const bytes = Buffer.from(token, "base64url");
  // The decoder ignores characters outside base64url.
  if (bytes.toString("base64url") !== token) return undefined;
  if (!bytes.subarray(0, SCOPE_BYTES).equals(scopeDigest(scope))) return undefined;
  return bytes.subarray(SCOPE_BYTES).toString("utf8");
}

function scopeDigest(scope: readonly string[]): Buffer {
  // JSON keeps different scopes distinct.
  return createHash("sha256").update(JSON.stringify(scope)).digest().subarray(0, SCOPE_BYTES);
}

/** A UUID after every other one, to begin a list that is read backwards. */
export const LAST_UUID = "ffffffff-ffff-ffff-ffff-ffffffffffff";
