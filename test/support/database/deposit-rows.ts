import type { SuiClientTypes } from "@mysten/sui/client";
import type { SuiGrpcClient } from "@mysten/sui/grpc";
import { normalizeStructTag } from "@mysten/sui/utils";
import { newId, type Queryable } from "../../../src/service/platform/store/database.ts";
import { objectId } from "./rows.ts";

/** Coins of a deposit address, by object id, in the smallest unit. */
export type Coins = ReadonlyMap<string, bigint>;

/** A deposit address of a test; without a reference, the project's own. */
interface TestAddress {
  readonly projectId: string;
  readonly address: string;
  readonly reference?: string;
}

/** Returns the address's coins of one type; default SUI. */
export async function coinsOf(
  client: SuiGrpcClient,
  owner: string,
  coinType = "0x2::sui::SUI",
): Promise<Coins> {
  const coins = new Map<string, bigint>();
  for (let cursor: string | null = null, isDone = false; !isDone; ) {
    const page: SuiClientTypes.ListCoinsResponse = await client.listCoins({ owner, coinType, cursor });
    for (const { objectId, balance } of page.objects) coins.set(objectId, BigInt(balance));
    cursor = page.cursor;
    isDone = !page.hasNextPage;
  }
  return coins;
}

/** Inserts a deposit address that the watcher never scans. */
export async function recordAddress(
  db: Queryable,
  { projectId, address, reference = "" }: TestAddress,
): Promise<void> {
  await db.query(
    `INSERT INTO deposit_address (address, project_id, network, due_at, reference)
     VALUES ($1, $2, 'localnet', 'infinity', $3)
     ON CONFLICT DO NOTHING`,
    [address, projectId, reference],
  );
}

/** Inserts a deposit address whose next scan is a day away, and which nobody has asked for since yesterday. */
export async function recordQuietAddress(
  db: Queryable,
  projectId: string,
  network = "localnet",
): Promise<string> {
  const address = objectId();
  await db.query(
    `INSERT INTO deposit_address (address, project_id, network, reference, due_at, wanted_at)
     VALUES ($1, $2, $3, $1, now() + interval '1 day', now() - interval '1 day')`,
    [address, projectId, network],
  );
  return address;
}

/** Stores the unknown coins of an address as deposits in one state, and returns them. */
export async function recordDeposits(
  db: Queryable,
  client: SuiGrpcClient,
  { projectId, address }: TestAddress,
  { state, coinType = "0x2::sui::SUI" }: { state: "credited" | "waiting"; coinType?: string },
): Promise<Coins> {
  const recorded = new Map<string, bigint>();
  const normalised = normalizeStructTag(coinType);
  for (const coin of (await client.listCoins({ owner: address, coinType })).objects) {
    const { objectId, version, digest, balance } = coin;
    const known = await db.query("SELECT 1 FROM deposit_coin WHERE object_id = $1", [objectId]);
    if (known.length > 0) continue;
    const { object } = await client.getObject({ objectId, include: { previousTransaction: true } });
    const credit = state === "credited" ? [1_000_000n, 10_000_000n, newId()] : [null, null, null];
    await db.query(
      `WITH made AS (
         INSERT INTO deposit (id, project_id, network, address, tx_digest, coin_type, amount, state, price_pico_usd,
                              value_micro_usd, ledger_key, credited_at)
         VALUES ($1, $2, 'localnet', $3, $4, $5, $6::numeric, $7, $8::bigint, $9::bigint, $10,
                 CASE WHEN $7 = 'credited' THEN now() END)
         ON CONFLICT (network, tx_digest, address, coin_type) DO UPDATE SET amount = deposit.amount + excluded.amount
         RETURNING id
       )
       INSERT INTO deposit_coin (network, object_id, version, digest, coin_type, amount, deposit_id)
       SELECT 'localnet', $11, $12, $13, $5, $6::numeric, id FROM made`,
      [
        newId(),
        projectId,
        address,
        object.previousTransaction,
        normalised,
        balance,
        state,
        ...credit,
        objectId,
        version,
        digest,
      ],
    );
    recorded.set(objectId, BigInt(balance));
  }
  return recorded;
}
