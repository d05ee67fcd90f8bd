import { Transaction } from "@mysten/sui/transactions";
import type { PastTransaction } from "../../chain/history.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import type { Rebuilder } from "../../chain/replay.ts";
import { writerOf } from "../../chain/spent-input.ts";
import type { OwnedRef } from "../../chain/treasury-calls.ts";
import { writeAuditEvent } from "../../store/audit.ts";
import type { Sql } from "../../store/database.ts";
import { newId } from "../../store/ids.ts";
import type { Deposits } from "../deposits/deposits.ts";
import { readPayments, recordPayments } from "../deposits/record-payment.ts";
import { SWEEPER } from "./sweep-operation.ts";
import type { SweptAddress } from "./sweep-signer.ts";

/** What rebuilding sweeps needs. */
export interface SweepRebuilderOptions {
  readonly deposits: Pick<Deposits, "network" | "coins" | "reader">;
  readonly reader: Pick<NetworkReader, "effects">;
}

/** A coin that a sweep moved, and the deposit that had brought it. */
interface SweptCoin {
  readonly depositId: string;
  readonly coinType: string;
  readonly sweepId: string | null;
  readonly amount: string;
}

/** Puts back sweeps, and before them what they moved. */
export interface SweepRebuilder extends Rebuilder {
  /** Writes down the deposits that a lost sweep moved; nothing for any other transaction. Again changes nothing. */
  putBackDeposits(sql: Sql, sent: PastTransaction): Promise<void>;
}

/**
 * Puts back the sweeps that lost transactions made, with the deposits that they moved: those wait, and are credited
 * like any other.
 */
export function createSweepRebuilder({ deposits, reader }: SweepRebuilderOptions): SweepRebuilder {
  const { network } = deposits;
  return {
    kind: "sweep",
    async rebuild(sql, _transaction, sent) {
      const swept = await findSwept(sql, sent);
      if (swept === undefined) return { subjectIds: [], unrecoverable: [] };
      await putBackDeposits(sql, sent);
      const moved = ownedInputs(sent.bytes);
      const coins = await Promise.all(moved.map((coin) => findCoin(sql, coin)));
      const known = coins.filter((coin) => coin !== undefined);
      const sweepId = known.find((coin) => coin.sweepId !== null)?.sweepId;
      const [first] = known;
      if (first === undefined) return { subjectIds: [], unrecoverable: [] };
      const subjectId = sweepId ?? (await insertSweep(sql, swept, moved, { ...first, known, sent }));
      return { subjectIds: [subjectId], unrecoverable: [] };
    },
    putBackDeposits,
  };

  async function putBackDeposits(sql: Sql, sent: PastTransaction): Promise<void> {
    const swept = await findSwept(sql, sent);
    if (swept === undefined || sent.outcome.kind === "aborted") return;
    for (const coin of ownedInputs(sent.bytes))
      if ((await findCoin(sql, coin)) === undefined) await putBack(sql, swept, coin, sent);
  }

  /** Whose coins the transaction moved, where its sender is a deposit address. */
  async function findSwept(sql: Sql, { sender }: PastTransaction): Promise<SweptAddress | undefined> {
    const [swept] = await sql.query<SweptAddress>(
      `SELECT address, project_id AS "projectId" FROM deposit_address WHERE network = $1 AND address = $2`,
      [network, sender],
    );
    return swept;
  }

  async function findCoin(sql: Sql, { objectId, version }: OwnedRef): Promise<SweptCoin | undefined> {
    const [row] = await sql.query<SweptCoin>(
      `SELECT deposit_id AS "depositId", coin_type AS "coinType", sweep_id AS "sweepId", amount::text AS amount
       FROM deposit_coin WHERE network = $1 AND object_id = $2 AND version = $3`,
      [network, objectId, version],
    );
    return row;
  }

  /** Writes down the deposit that brought the coin, and the coin, which is not at its address any more. */
  async function putBack(
    sql: Sql,
    swept: SweptAddress,
    { objectId, version, digest }: OwnedRef,
    { digest: sweepDigest, outcome }: PastTransaction,
  ): Promise<void> {
    const brought = await writerOf(reader, outcome.changes.dependencies, objectId, version);
    if (brought === undefined) return;
    const payments = await readPayments(deposits, brought);
    await recordPayments(
      { database: { transaction: (work) => work(sql) }, network },
      swept,
      brought,
      payments,
    );
    const left = (await readPayments(deposits, sweepDigest)).flatMap(({ coinType, coins }) =>
      coins.map((coin) => ({ ...coin, coinType })),
    );
    const coin = left.find((each) => each.objectId === objectId);
    const payment = payments.find(
      ({ address, coinType }) =>
        address === swept.address && (coin === undefined || coin.coinType === coinType),
    );
    if (payment === undefined) return;
    await sql.query(
      `INSERT INTO deposit_coin (network, coin_type, deposit_id, object_id, version, digest, amount)
       SELECT network, coin_type, id, $5, $6, $7, $8::numeric FROM deposit
       WHERE network = $1 AND tx_digest = $2 AND address = $3 AND coin_type = $4
       ON CONFLICT (network, object_id, version) DO NOTHING`,
      [
        ...[network, brought, swept.address, payment.coinType],
        ...[objectId, version, digest],
        // A coin that was merged at its destination does not say any more what it was worth; most deposits are one.
        String(coin?.amount ?? payment.amount),
      ],
    );
  }

  async function insertSweep(
    sql: Sql,
    { address, projectId }: SweptAddress,
    moved: readonly OwnedRef[],
    { coinType, known, sent }: { coinType: string; known: readonly SweptCoin[]; sent: PastTransaction },
  ): Promise<string> {
    const id = newId();
    const { owners } = sent.outcome.changes;
    const destination = moved
      .map(({ objectId }) => owners.get(objectId))
      .find((owner) => owner !== undefined);
    const amount = known.reduce((sum, coin) => sum + BigInt(coin.amount), 0n);
    await sql.query(
      `INSERT INTO sweep (id, network, address, coin_type, destination, amount, coin_count, created_at)
       VALUES ($1, $2, $3, $4, $5, $6::numeric, $7, coalesce($8, now()))`,
      [
        id,
        network,
        address,
        coinType,
        destination ?? address,
        String(amount),
        known.length,
        sent.time ?? null,
      ],
    );
    await sql.query(
      `UPDATE deposit_coin SET sweep_id = $1 FROM unnest($3::text[], $4::text[]) AS taken (object_id, version)
       WHERE network = $2 AND deposit_coin.object_id = taken.object_id AND deposit_coin.version = taken.version`,
      [id, network, moved.map(({ objectId }) => objectId), moved.map(({ version }) => version)],
    );
    await writeAuditEvent(sql, SWEEPER, { projectId, action: "sweep.rebuild", subject: id });
    return id;
  }
}

/** The coins that the transaction moved, as it took them; what paid for gas is not among them. */
function ownedInputs(bytes: Uint8Array): OwnedRef[] {
  return Transaction.from(bytes)
    .getData()
    .inputs.flatMap(({ Object: input }) =>
      input?.ImmOrOwnedObject === undefined ? [] : [input.ImmOrOwnedObject],
    )
    .map(({ objectId, version, digest }) => ({ objectId, version: String(version), digest }));
}
