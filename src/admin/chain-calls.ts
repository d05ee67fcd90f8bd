import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { TransactionFilter, TransactionRow } from "../chain/read-transactions.ts";
import type { TreasuryOverview } from "../chain/treasury/read-treasury.ts";
import type { Page, PageRequest } from "../paging/read-page.ts";
import {
  decodeOperationKind,
  decodeTransactionState,
  encodeChainTransaction,
  encodeTreasury,
} from "./encode-chain.ts";

/** Implements {@link AdminChainCalls}. */
export function createChainCalls(reads: ChainReads): AdminChainCalls {
  return {
    async getTreasury() {
      return encodeTreasury(await reads.readTreasury());
    },
    async listChainTransactions({ pageSize, pageToken, operatorCapId, state, kind }, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await reads.listChainTransactions(network, {
        ...{ pageSize, pageToken, lane: operatorCapId },
        state: decodeTransactionState(state),
        kind: decodeOperationKind(kind),
      });
      return { chainTransactions: rows.map(encodeChainTransaction), nextPageToken };
    },
  };
}

export interface ChainReads {
  readonly readTreasury: () => Promise<TreasuryOverview>;
  readonly listChainTransactions: (
    network: string,
    input: PageRequest & TransactionFilter,
  ) => Promise<Page<TransactionRow>>;
}

/** The calls of `tss.v1.Admin` about the service's transactions and funds. */
export type AdminChainCalls = Pick<ServiceImpl<typeof Admin>, "getTreasury" | "listChainTransactions">;
