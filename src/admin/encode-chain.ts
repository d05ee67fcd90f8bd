import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  ChainOperation_Kind,
  type ChainTransaction,
  ChainTransaction_State,
  ChainTransactionSchema,
  type GetTreasuryResponse,
  GetTreasuryResponseSchema,
  type LaneSchema,
  PriceCeiling_Operation,
} from "../../gen/proto/tss/v1/admin_pb.ts";
import type { OperationName } from "../chain/operation.ts";
import type { TransactionRow, TransactionState } from "../chain/read-transactions.ts";
import type { LaneOverview, TreasuryOverview, WalletBalance } from "../chain/treasury/read-treasury.ts";
import { curveOfNumber, signatureAlgorithmOfNumbers } from "../protocol/algorithms.ts";

const STATES: Readonly<Record<TransactionState, ChainTransaction_State>> = {
  stored: ChainTransaction_State.stored,
  landed: ChainTransaction_State.landed,
  aborted: ChainTransaction_State.aborted,
  dropped: ChainTransaction_State.dropped,
};

const KINDS: Readonly<Record<OperationName, ChainOperation_Kind>> = {
  register: ChainOperation_Kind.register,
  dkg: ChainOperation_Kind.dkg,
  accept: ChainOperation_Kind.accept,
  presign: ChainOperation_Kind.presign,
  sign: ChainOperation_Kind.sign,
  sweep: ChainOperation_Kind.sweep,
  consent: ChainOperation_Kind.consent,
};

/** Returns the state of a filter, or undefined. */
export function decodeTransactionState(
  wanted: ChainTransaction_State | undefined,
): TransactionState | undefined {
  return nameIn(STATES, wanted);
}

/** Returns the kind of operation of a filter, or undefined. */
export function decodeOperationKind(wanted: ChainOperation_Kind | undefined): OperationName | undefined {
  return nameIn(KINDS, wanted);
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
    operations: kinds.map((kind, index) => ({ kind: KINDS[kind], subjectId: subjectIds[index] ?? "" })),
    createTime: timestampFromDate(createdAt),
    ...(gasUsedMist !== null && { gasUsedMist }),
    ...(resolvedAt !== null && { resolveTime: timestampFromDate(resolvedAt) }),
    ...(error !== null && { errorMessage: error }),
  });
}

/** Encodes the Treasury's funds. */
export function encodeTreasury(overview: TreasuryOverview): GetTreasuryResponse {
  const { treasuryId, packageId, state, ceilings, hotWallet, gasStation, lanes } = overview;
  const capIds = state.operators.map(({ capId }) => capId);
  return create(GetTreasuryResponseSchema, {
    treasury: {
      ...{ treasuryId, packageId, paused: state.isPaused },
      ...{ ikaBalance: state.ika, suiBalanceMist: state.sui },
      priceCeilings: ceilings.map(({ operation, curve, signatureAlgorithm, ika, sui }) => ({
        operation: PriceCeiling_Operation[operation],
        ...{ curve, curveName: curveOfNumber(curve) ?? "" },
        ...(operation !== "dkg" && {
          signatureAlgorithm,
          signatureAlgorithmName: signatureAlgorithmOfNumbers(curve, signatureAlgorithm) ?? "",
        }),
        ...{ maxIka: ika, maxSuiMist: sui },
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
    ...{ leased, fence },
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
