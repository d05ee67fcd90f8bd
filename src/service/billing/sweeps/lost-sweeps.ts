import sql from "sql-template-tag";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import type { OwnedRef } from "../../chain/treasury/treasury-calls.ts";
import { nullable, text } from "../../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import { SWEEPER } from "./sweep-operation.ts";
import type { SweptAddress } from "./sweep-signer.ts";

/** A deposited coin, with the sweep that moved it. */
export interface SweptCoin {
  readonly depositId: string;
  readonly coinType: string;
  /** Null if no known sweep moved it. */
  readonly sweepId: string | null;
  /** In the coin's smallest unit, as text. */
  readonly amount: string;
}

/** A sweep on the chain that is missing in the database. */
export interface LostSweep {
  readonly network: string;
  readonly swept: SweptAddress;
  readonly coinType: string;
  readonly destination: string;
  /** In the coin's smallest unit. */
  readonly amount: bigint;
  readonly coinCount: number;
  /** The coins in the versions that the sweep used. */
  readonly moved: readonly OwnedRef[];
  /** What it withdrew from the address balance, in the coin's smallest unit. */
  readonly funds: bigint;
  /** When it was sent; null if the chain does not say. */
  readonly sentAt: Date | null;
}

/** A coin of a deposit that is no longer at its address. */
export interface MovedCoin extends OwnedRef {
  /** The transaction that deposited it. */
  readonly depositDigest: string;
  readonly address: string;
  readonly coinType: string;
  /** In the coin's smallest unit. */
  readonly amount: bigint;
}

/** Finds the deposit address with this Sui address; undefined if there is none. */
export async function findSweptAddress(
  db: Queryable,
  network: string,
  address: string,
): Promise<SweptAddress | undefined> {
  const [swept] = await readRows<SweptAddress>(
    db,
    sql`SELECT address, project_id AS "projectId", reference FROM deposit_address
        WHERE network = ${network} AND address = ${address}`,
    { address: text, projectId: text, reference: text },
  );
  return swept;
}

/** Finds the coin at this version; undefined if its deposit is unknown. */
export async function findDepositCoin(
  db: Queryable,
  network: string,
  { objectId, version }: Pick<OwnedRef, "objectId" | "version">,
): Promise<SweptCoin | undefined> {
  const [coin] = await readRows<SweptCoin>(
    db,
    sql`SELECT deposit_id AS "depositId", coin_type AS "coinType", sweep_id AS "sweepId", amount::text AS amount
        FROM deposit_coin WHERE network = ${network} AND object_id = ${objectId} AND version = ${version}`,
    { depositId: text, coinType: text, sweepId: nullable(text), amount: text },
  );
  return coin;
}

/** Inserts a coin of a known deposit. A repeated call changes nothing. */
export async function insertMovedCoin(db: Queryable, network: string, coin: MovedCoin): Promise<void> {
  const { objectId, version, digest, depositDigest, address, coinType, amount } = coin;
  await execute(
    db,
    sql`INSERT INTO deposit_coin (network, coin_type, deposit_id, object_id, version, digest, amount)
        SELECT network, coin_type, id, ${objectId}, ${version}, ${digest}, ${String(amount)}::numeric FROM deposit
        WHERE network = ${network} AND tx_digest = ${depositDigest} AND address = ${address}
          AND coin_type = ${coinType}
        ON CONFLICT (network, object_id, version) DO NOTHING`,
  );
}

/** Inserts a lost sweep and assigns its coins to it. Returns its id. */
export async function insertLostSweep(db: Queryable, sweep: LostSweep): Promise<string> {
  const { network, swept, coinType, destination, amount, coinCount, moved, funds, sentAt } = sweep;
  const id = newId();
  await execute(
    db,
    sql`INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, created_at)
        VALUES (${id}, ${network}, ${swept.address}, ${coinType}, ${destination}, ${String(amount)}::numeric,
                ${coinCount}, coalesce(${sentAt}::timestamptz, now()))`,
  );
  const objectIds = moved.map(({ objectId }) => objectId);
  const versions = moved.map(({ version }) => version);
  await execute(
    db,
    sql`UPDATE deposit_coin SET sweep_id = ${id}
        FROM unnest(${objectIds}::text[], ${versions}::text[]) AS taken (object_id, version)
        WHERE network = ${network} AND deposit_coin.object_id = taken.object_id
          AND deposit_coin.version = taken.version`,
  );
  await takeFunds(db, { id, address: swept.address, coinType, funds });
  const { projectId } = swept;
  await writeAuditEvent(db, SWEEPER, { projectId, action: "sweep.rebuild", subject: id });
  return id;
}

/**
 * Finds a queued sweep of nothing but this amount of the address balance. Equal sweeps may stand for each other, because
 * the parts of an address balance are alike.
 */
export async function findQueuedWithdrawal(
  db: Queryable,
  { address, coinType, funds }: Withdrawn,
): Promise<string | undefined> {
  const [found] = await readRows(
    db,
    sql`SELECT s.id FROM sweep s JOIN deposit_coin c ON c.sweep_id = s.id
        WHERE s.address = ${address} AND s.coin_type = ${coinType} AND s.state = 'queued'
        GROUP BY s.id HAVING bool_and(c.in_address_balance) AND sum(c.amount) = ${String(funds)}::numeric
        ORDER BY s.id LIMIT 1`,
    { id: text },
  );
  return found?.id;
}

/** A withdrawal from the balance of a deposit address. */
export interface Withdrawn {
  readonly address: string;
  readonly coinType: string;
  /** In the coin's smallest unit. */
  readonly funds: bigint;
}

/**
 * Assigns deposits to a lost sweep, the oldest first, as far as its withdrawal covers them. Which ones it took is not on
 * the chain, and does not matter: the parts of an address balance are alike.
 */
async function takeFunds(
  db: Queryable,
  { id, address, coinType, funds }: Withdrawn & { readonly id: string },
): Promise<void> {
  if (funds === 0n) return;
  await execute(
    db,
    sql`WITH part AS (
          SELECT c.network, c.object_id, c.version, sum(c.amount) OVER (ORDER BY d.id) AS total
          FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id
          WHERE d.address = ${address} AND c.coin_type = ${coinType} AND c.in_address_balance AND c.sweep_id IS NULL
        )
        UPDATE deposit_coin c SET sweep_id = ${id} FROM part
        WHERE c.network = part.network AND c.object_id = part.object_id AND c.version = part.version
          AND part.total <= ${String(funds)}::numeric`,
  );
}
