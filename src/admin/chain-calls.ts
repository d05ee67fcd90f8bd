import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { callerOf } from "../access/caller.ts";
import { type ReadTreasuryDeps, readTreasury } from "../chain/treasury/read-treasury.ts";
import type { Queryable } from "../store/database.ts";
import {
  decodeOperationKind,
  decodeTransactionState,
  encodeChainTransaction,
  encodeTreasury,
} from "./encode-chain.ts";
import { listChainTransactions } from "./list-chain-transactions.ts";

/** Implements {@link AdminChainCalls}. */
export function createChainCalls(db: Queryable, chain: ChainCallsDeps): AdminChainCalls {
  return {
    async getTreasury() {
      return encodeTreasury(await readTreasury({ ...chain, db }));
    },
    async listChainTransactions({ pageSize, pageToken, operatorCapId, state, kind }, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await listChainTransactions(db, network, {
        ...{ pageSize, pageToken, lane: operatorCapId },
        state: decodeTransactionState(state),
        kind: decodeOperationKind(kind),
      });
      return { chainTransactions: rows.map(encodeChainTransaction), nextPageToken };
    },
  };
}

/** The network whose funds the operator reads. */
export type ChainCallsDeps = Omit<ReadTreasuryDeps, "db">;

/** The calls of `tss.v1.Admin` about the service's transactions and funds. */
export type AdminChainCalls = Pick<ServiceImpl<typeof Admin>, "getTreasury" | "listChainTransactions">;
