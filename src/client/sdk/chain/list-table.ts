import type { Action } from "../action.ts";
import { TssError } from "../errors.ts";
import type { ConnectedFullnode, TableEntry, TablePage } from "./fullnode.ts";

/**
 * Yields the entries of a table, page by page, as one fullnode after another lists them: an entry that one fullnode
 * leaves out comes from the next. The same entry may come from each of them. All are hints that the caller checks.
 *
 * Throws CHAIN_UNAVAILABLE when a fullnode does not answer twice, or repeats a page.
 */
export async function* listTable(
  fullnodes: readonly Pick<ConnectedFullnode, "tablePage">[],
  { signal }: Pick<Action, "signal">,
  { tableId, hasValues }: TableRequest,
): AsyncGenerator<TableEntry, void> {
  for (const [position, fullnode] of fullnodes.entries()) {
    const unavailable = (cause?: unknown) =>
      new TssError("CHAIN_UNAVAILABLE", "a fullnode does not list a table's entries", {
        metadata: { fullnode: String(position + 1) },
        cause,
      });
    let cursor: string | null = null;
    do {
      const after: string | null = cursor;
      const page: TablePage = await askTwice(signal, unavailable, (until) =>
        fullnode.tablePage({ tableId, cursor: after, hasValues }, until),
      );
      yield* page.entries;
      // A list without progress would never end.
      if (page.cursor !== null && (page.cursor === after || page.entries.length === 0)) throw unavailable();
      cursor = page.cursor;
    } while (cursor !== null);
  }
}

/** A table to list, and whether its entries have values. */
export interface TableRequest {
  readonly tableId: string;
  readonly hasValues: boolean;
}

/** Repeats a failed question at once, because an idle socket may be dead. */
async function askTwice<T>(
  signal: AbortSignal,
  unavailable: (cause: unknown) => TssError,
  ask: (until: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await ask(AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)]));
    } catch (cause) {
      signal.throwIfAborted();
      if (attempt === ATTEMPT_COUNT) throw unavailable(cause);
    }
  }
}

const ANSWER_TIMEOUT_MS = 15_000;
const ATTEMPT_COUNT = 2;
