import {
  readTransactions,
  type TransactionFilter,
  type TransactionPosition,
  type TransactionRow,
} from "../chain/read-transactions.ts";
import { type Page, type PageRequest, readPage } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";

/** Reads a page of the network's transactions, the newest first. Throws VALIDATION for a token of another list. */
export function listChainTransactions(
  db: Queryable,
  network: string,
  { lane, state, kind, ...request }: PageRequest & TransactionFilter,
): Promise<Page<TransactionRow>> {
  return readPage(request, {
    scope: ["chain_transaction", network, lane ?? "", state ?? "", kind ?? ""],
    positionOf: ({ createdAt, digest }) => `${createdAt.getTime()}:${digest}`,
    position: POSITION,
    read: (after, count) =>
      readTransactions(
        db,
        network,
        { lane, state, kind },
        { after: after === undefined ? undefined : positionIn(after), count },
      ),
  });
}

/** Milliseconds since the epoch, and a digest in base 58. */
const POSITION = /^\d{1,15}:[1-9A-HJ-NP-Za-km-z]{1,50}$/;

function positionIn(text: string): TransactionPosition {
  const colon = text.indexOf(":");
  return { createdAt: new Date(Number(text.slice(0, colon))), digest: text.slice(colon + 1) };
}
