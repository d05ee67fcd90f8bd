import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql from "sql-template-tag";
import {
  type Deposit,
  Deposit_State,
  type DepositCoin,
  DepositCoinSchema,
  DepositCreditSchema,
  DepositSchema,
} from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { bigint, boolean, type Columns, nullable, oneOf, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import {
  LAST_UUID,
  type Page,
  type PageRequest,
  readPage,
  UUID_POSITION,
} from "../../platform/store/read-page.ts";
import { type CoinPrice, formatUsdPrice } from "../prices/price-source.ts";
import type { AcceptedCoin } from "./accepted-coins.ts";

/** Reads a page of the project's deposits, newest first. Throws VALIDATION for a token of another list. */
export function listDeposits(
  db: Queryable,
  projectId: string,
  { state, reference, ...request }: ListDepositsInput,
): Promise<Page<DepositRow>> {
  const from =
    reference === undefined
      ? sql`s.project_id = ${projectId}::uuid`
      : sql`s.address = (SELECT a.address FROM deposit_address a JOIN project p ON p.id = a.project_id
          AND p.network = a.network WHERE a.project_id = ${projectId}::uuid AND a.reference = ${reference})`;
  return readPage(request, {
    scope: ["deposit", projectId, state ?? "", ...(reference === undefined ? [] : [reference])],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST_UUID, count) =>
      readRows(
        db,
        sql`${SELECT} WHERE d.id = ANY(ARRAY(
           SELECT one.id FROM unnest(${state === undefined ? STATES : [state]}::text[]) AS wanted (state) CROSS JOIN LATERAL (
             SELECT s.id FROM deposit s WHERE ${from} AND s.state = wanted.state AND s.id < ${after}::uuid
             ORDER BY s.id DESC LIMIT ${count}
           ) one ORDER BY one.id DESC LIMIT ${count}
         )) ORDER BY d.id DESC`,
        COLUMNS,
      ),
  });
}

/** Filters deposits and selects a page. */
interface ListDepositsInput extends PageRequest {
  /** Undefined means both. */
  readonly state: DepositState | undefined;
  /** Undefined means all, including those to the project's own address. Empty means only the latter. */
  readonly reference?: string | undefined;
}

/** The state of a deposit. */
type DepositState = "waiting" | "credited";

/** A deposit, as the contract shows it. */
export interface DepositRow {
  readonly id: string;
  readonly state: DepositState;
  readonly txDigest: string;
  readonly coinType: string;
  /** In the coin's smallest unit, in decimal digits. */
  readonly amount: string;
  readonly createdAt: Date;
  readonly pricePicoUsd: bigint | null;
  readonly valueMicroUsd: bigint | null;
  readonly ledgerKey: string | null;
  readonly creditedAt: Date | null;
  /** True if landed sweeps took all of its coins. */
  readonly swept: boolean;
  /** The address that was paid. */
  readonly address: string;
  /** The address's reference; empty for the project's own address. */
  readonly reference: string;
}

/** All states. */
const STATES = ["waiting", "credited"] as const satisfies readonly DepositState[];
const COLUMNS: Columns<DepositRow> = {
  id: text,
  state: oneOf(...STATES),
  txDigest: text,
  coinType: text,
  amount: text,
  createdAt: time,
  pricePicoUsd: nullable(bigint),
  valueMicroUsd: nullable(bigint),
  ledgerKey: nullable(text),
  creditedAt: nullable(time),
  swept: boolean,
  address: text,
  reference: text,
};

/** Reads the deposits of one transaction to the project. */
export function readDeposits(
  db: Queryable,
  { projectId, network, txDigest }: { projectId: string; network: string; txDigest: string },
): Promise<DepositRow[]> {
  return readRows(
    db,
    sql`${SELECT} WHERE d.project_id = ${projectId} AND d.network = ${network} AND d.tx_digest = ${txDigest}
        ORDER BY d.id`,
    COLUMNS,
  );
}

const SELECT = sql`
SELECT d.id, d.state, d.tx_digest AS "txDigest", d.coin_type AS "coinType", d.amount::text AS amount,
  d.created_at AS "createdAt", d.price_pico_usd AS "pricePicoUsd", d.value_micro_usd AS "valueMicroUsd",
  d.ledger_key AS "ledgerKey", d.credited_at AS "creditedAt",
  EXISTS (SELECT FROM deposit_coin c WHERE c.deposit_id = d.id) AND NOT EXISTS (
    SELECT FROM deposit_coin c LEFT JOIN sweep w ON w.id = c.sweep_id
    WHERE c.deposit_id = d.id AND w.state IS DISTINCT FROM 'landed'
  ) AS swept, d.address, o.reference
FROM deposit d JOIN deposit_address o ON o.address = d.address`;

/** Encodes a deposit. */
export function encodeDeposit(row: DepositRow): Deposit {
  const { id, state, txDigest, coinType, amount, createdAt, swept, address, reference } = row;
  const credit = creditOf(row);
  return create(DepositSchema, {
    depositId: id,
    state: Deposit_State[state],
    txDigest,
    coinType,
    amount,
    createTime: timestampFromDate(createdAt),
    swept,
    address,
    ...(reference !== "" && { reference }),
    ...(credit && { credit }),
  });
}

/** Encodes an accepted coin, with its price if there is a fresh one. */
export function encodeDepositCoin(coin: AcceptedCoin, price: CoinPrice | undefined): DepositCoin {
  const { coinType, symbol, decimals } = coin;
  return create(DepositCoinSchema, {
    coinType,
    symbol,
    decimals,
    ...(price && { priceUsd: formatUsdPrice(price.picoUsd), priceTime: timestampFromDate(price.time) }),
  });
}

/** Returns the filter by state; undefined without one. */
export function depositStateOf(state: Deposit_State | undefined): DepositState | undefined {
  if (state === Deposit_State.waiting) return "waiting";
  return state === Deposit_State.credited ? "credited" : undefined;
}

function creditOf({ pricePicoUsd, valueMicroUsd, ledgerKey, creditedAt }: DepositRow) {
  if (pricePicoUsd === null || valueMicroUsd === null || ledgerKey === null || creditedAt === null) {
    return undefined;
  }
  return create(DepositCreditSchema, {
    creditTime: timestampFromDate(creditedAt),
    priceUsd: formatUsdPrice(pricePicoUsd),
    valueMicroUsd,
    ledgerEntryId: ledgerKey,
  });
}
