import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import {
  type Admin,
  ChainOperation_Kind,
  type ChainTransaction,
  ChainTransaction_State,
  ChainTransactionSchema,
  type GetTreasuryResponse,
  GetTreasuryResponseSchema,
  type LaneSchema,
  PriceCeiling_Operation,
} from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { curveOfNumber, signatureAlgorithmOfNumbers } from "../../../protocol/algorithms.ts";
import { callerOf } from "../../access/caller.ts";
import type { OperationName } from "../../chain/operation.ts";
import {
  readTransactions,
  type TransactionFilter,
  type TransactionPosition,
  type TransactionRow,
  type TransactionState,
} from "../../chain/read-transactions.ts";
import { hasAlgorithm } from "../../chain/treasury/read-prices.ts";
import {
  type FundsSource,
  type LaneOverview,
  readTreasury,
  type TreasuryOverview,
  type WalletBalance,
} from "../../chain/treasury/read-treasury.ts";
import type { Queryable } from "../../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../../platform/store/read-page.ts";

/** Implements {@link AdminChainCalls}. */
export function createChainCalls(db: Queryable, chain: FundsSource): AdminChainCalls {
  return {
    async getTreasury() {
      return encodeTreasury(await readTreasury(db, chain));
    },
    async listChainTransactions({ pageSize, pageToken, operatorCapId, state, kind }, context) {
      const { network } = callerOf(context, "admin");
      const { rows, nextPageToken } = await listChainTransactions(db, network, {
        pageSize,
        pageToken,
        lane: operatorCapId,
        state: decodeTransactionState(state),
        kind: decodeOperationKind(kind),
      });
      return { chainTransactions: rows.map(encodeChainTransaction), nextPageToken };
    },
  };
}

/** The calls of `tss.v1.Admin` about the service's transactions and funds. */
type AdminChainCalls = Pick<ServiceImpl<typeof Admin>, "getTreasury" | "listChainTransactions">;

const STATES: Readonly<Record<TransactionState, ChainTransaction_State>> = {
  stored: ChainTransaction_State.stored,
  landed: ChainTransaction_State.landed,
  aborted: ChainTransaction_State.aborted,
  dropped: ChainTransaction_State.dropped,
};

/** The kinds of operations as the contract's values. */
export const OPERATION_KINDS: Readonly<Record<OperationName, ChainOperation_Kind>> = {
  register: ChainOperation_Kind.register,
  dkg: ChainOperation_Kind.dkg,
  accept: ChainOperation_Kind.accept,
  presign: ChainOperation_Kind.presign,
  sign: ChainOperation_Kind.sign,
  sweep: ChainOperation_Kind.sweep,
  consent: ChainOperation_Kind.consent,
  share: ChainOperation_Kind.share,
  accept_share: ChainOperation_Kind.accept_share,
  future_sign: ChainOperation_Kind.future_sign,
  partial_sign: ChainOperation_Kind.partial_sign,
};

/** Returns the state of a filter, or undefined. */
function decodeTransactionState(wanted: ChainTransaction_State | undefined): TransactionState | undefined {
  return nameIn(STATES, wanted);
}

/** Returns the kind of operation of a filter, or undefined. */
function decodeOperationKind(wanted: ChainOperation_Kind | undefined): OperationName | undefined {
  return nameIn(OPERATION_KINDS, wanted);
}

/** Encodes a transaction. */
export function encodeChainTransaction(row: TransactionRow): ChainTransaction {
  const { digest, lane, state, sends, error, gasUsedMist, createdAt, resolvedAt, kinds, subjectIds } = row;
  return create(ChainTransactionSchema, {
    txDigest: digest,
    operatorCapId: lane,
    state: STATES[state],
    // The row does not count the first attempt.
    sendCount: sends + 1,
    operations: kinds.map((kind, index) => ({
      kind: OPERATION_KINDS[kind],
      subjectId: subjectIds[index] ?? "",
    })),
    createTime: timestampFromDate(createdAt),
    ...(gasUsedMist !== null && { gasUsedMist }),
    ...(resolvedAt !== null && { resolveTime: timestampFromDate(resolvedAt) }),
    ...(error !== null && { errorMessage: error }),
  });
}

/** Encodes the Treasury's funds. */
function encodeTreasury(overview: TreasuryOverview): GetTreasuryResponse {
  const { treasuryId, packageId, state, ceilings, hotWallet, gasStation, lanes } = overview;
  const capIds = state.operators.map(({ capId }) => capId);
  return create(GetTreasuryResponseSchema, {
    treasury: {
      treasuryId,
      packageId,
      paused: state.isPaused,
      ikaBalance: state.ika,
      suiBalanceMist: state.sui,
      priceCeilings: ceilings.map(({ operation, curve, signatureAlgorithm, ika, sui }) => ({
        operation: PriceCeiling_Operation[operation],
        curve,
        curveName: curveOfNumber(curve) ?? "",
        ...(hasAlgorithm(operation) && {
          signatureAlgorithm,
          signatureAlgorithmName: signatureAlgorithmOfNumbers(curve, signatureAlgorithm) ?? "",
        }),
        maxIka: ika,
        maxSuiMist: sui,
      })),
    },
    hotWallet: encodeWallet(hotWallet),
    ...(gasStation && { gasStation: encodeWallet(gasStation) }),
    lanes: lanes.map((lane) => encodeLane(lane, capIds)),
  });
}

function encodeWallet({ address, balanceMist, addressBalanceMist }: WalletBalance) {
  return { address, suiBalanceMist: balanceMist, addressBalanceMist };
}

function encodeLane(
  lane: LaneOverview,
  authorisedIds: readonly string[],
): MessageInitShape<typeof LaneSchema> {
  const { id, leased, fence, unresolvedDigest, foreignDigest, gasCoins } = lane;
  return {
    operatorCapId: id,
    authorised: authorisedIds.includes(id),
    leased,
    fence,
    gasCoins: gasCoins.map(({ objectId, balanceMist }) => ({
      objectId,
      ...(balanceMist !== undefined && { balanceMist }),
    })),
    gasBalanceMist: gasCoins.reduce((sum, { balanceMist = 0n }) => sum + balanceMist, 0n),
    ...(unresolvedDigest !== null && { unresolvedTxDigest: unresolvedDigest }),
    ...(foreignDigest !== null && { foreignTxDigest: foreignDigest }),
  };
}

function nameIn<Name extends string, Value>(
  table: Readonly<Record<Name, Value>>,
  wanted: Value | undefined,
): Name | undefined {
  return (Object.keys(table) as Name[]).find((name) => table[name] === wanted);
}

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
