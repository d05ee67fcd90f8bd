import { newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { objectId } from "./database/rows.ts";

/** A coin in the version that its deposit created. */
export interface TestCoin {
  readonly objectId: string;
  readonly version: string;
  readonly digest: string;
}

/** Inserts a waiting deposit to an address and returns its id. */
export async function insertDeposit(
  db: Queryable,
  { projectId, owner, coinType = SUI, network = "localnet", digest = objectId() }: TestDeposit,
): Promise<string> {
  const id = newId();
  await db.query(
    `INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount)
     VALUES ($1, $2, $3, $4, $5, $6, 1)`,
    [id, projectId, network, owner, digest, coinType],
  );
  return id;
}

export interface TestDeposit {
  readonly projectId: string;
  /** The deposit address. */
  readonly owner: string;
  readonly coinType?: string;
  readonly network?: string;
  /** The transaction that paid it. */
  readonly digest?: string;
}

/** Inserts a coin of a deposit, or a part of its address balance. */
export async function insertCoin(
  db: Queryable,
  depositId: string,
  {
    objectId: id = objectId(),
    version = "1",
    network = "localnet",
    coinType = SUI,
    amount = 1n,
    isBalance = false,
    sweepId = null as string | null,
  } = {},
): Promise<TestCoin> {
  await db.query(
    `INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id, in_address_balance,
                               sweep_id)
     VALUES ($1, $2, $3, 'd', $4, $5::numeric, $6, $7, $8)`,
    [network, id, version, coinType, String(amount), depositId, isBalance, sweepId],
  );
  return { objectId: id, version, digest: "d" };
}

const SUI = "0x2::sui::SUI";
