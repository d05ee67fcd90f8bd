import sql from "sql-template-tag";
import { writeAuditEvent } from "../../audit/audit-event.ts";
import type { OperationFailure, OperationKind } from "../../chain/operation.ts";
import { execute, type Queryable } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import {
  type CoinFate,
  type CoinReader,
  inspectCoins,
  readSweeps,
  type SweepSubject,
} from "./inspect-coins.ts";
import { type DepositSigner, signerObstacle } from "./sweep-signer.ts";

/**
 * Creates the operation that transfers coins of a deposit address to the operator: queued -> landed, or refused if it
 * can never land; then its coins are inspected again. The deposit address sends the transaction, and the lane pays for
 * it. Proof on the chain that a sweep landed: one transaction used every coin in exactly its version and transferred it
 * to the destination. Only this service can sign such a transaction. A withdrawal from the address balance leaves no such
 * proof, so a sweep of nothing else is known by its digest alone, and after a restore by the lane's history.
 */
export function createSweepOperation(options: {
  readonly reader: CoinReader;
  readonly signerOf: DepositSigner;
  readonly log: Log;
}): OperationKind<SweepSubject> {
  const { reader, signerOf, log } = options;
  return {
    name: "sweep",
    priority: SWEEP_PRIORITY,
    batchCount: 1,
    load: readSweeps,
    sizeBytes: ({ coins }) => coins.length * COIN_BYTES + WITHDRAWAL_BYTES,
    obstacle: (sweep) => signerObstacle(signerOf, sweep),
    senderOf(sweep) {
      const signer = signerOf(sweep);
      if (signer === undefined) throw new Error("a sweep without a seed has an obstacle");
      return signer;
    },
    add(calls, [sweep]) {
      if (sweep === undefined) throw new Error("a block of sweeps has one");
      const { coins, coinType, funds, destination: recipient } = sweep;
      const withdrawal = funds > 0n ? { coinType, amount: funds } : undefined;
      calls.transferCoins({ coins, withdrawal, recipient });
    },
    async landed(db, sweeps, { digest }) {
      for (const sweep of sweeps) await land(db, sweep, digest);
    },
    async failed(db, sweep, failure) {
      if (!(await end(db, sweep, { state: "refused", digest: null, failure }))) return;
      log.warn({ ...fieldsOf(sweep), reason: failure.reason }, "a sweep was refused");
    },
    async adopt(db, sweep) {
      const digest = sweptBy(sweep, await inspectCoins(reader, sweep.coins));
      if (digest === undefined) return false;
      await land(db, sweep, digest);
      return true;
    },
    async findSpent(sweep) {
      const fates = await inspectCoins(reader, sweep.coins);
      return sweptBy(sweep, fates) === undefined
        ? (spentCoin(fates) ?? (await spentFunds(sweep)))
        : undefined;
    },
  };

  async function spentFunds({
    address,
    coinType,
    funds,
  }: SweepSubject): Promise<OperationFailure | undefined> {
    if (funds === 0n) return undefined;
    const available = await reader.addressBalance(address, coinType);
    if (available >= funds) return undefined;
    return {
      reason: "FUNDS_SPENT",
      message: `the address balance has ${available}, the sweep needs ${funds}`,
    };
  }

  async function land(db: Queryable, sweep: SweepSubject, digest: string): Promise<void> {
    if (!(await end(db, sweep, { state: "landed", digest }))) return;
    log.info({ ...fieldsOf(sweep), digest }, "a sweep landed");
  }
}

/** The actor of sweeps in the audit trail. */
export const SWEEPER = { actor: "system" } as const;

/** Runs after all operations that a caller waits for. */
export const SWEEP_PRIORITY = 60;

/** The bytes of a coin's reference as an input, and as an argument of the command. */
const COIN_BYTES = 80;

/** The bytes of a withdrawal as an input, and of the call that redeems it, with a long coin type in each. */
const WITHDRAWAL_BYTES = 600;

/** Returns the transaction that transferred every coin to the destination, if there is one. */
function sweptBy(sweep: SweepSubject, fates: ReadonlyMap<string, CoinFate>): string | undefined {
  const all = [...fates.values()];
  const digests = new Set(
    all.map((fate) => (fate.kind === "used" && fate.owner === sweep.destination ? fate.byDigest : undefined)),
  );
  return digests.size === 1 ? [...digests][0] : undefined;
}

function spentCoin(fates: ReadonlyMap<string, CoinFate>): OperationFailure | undefined {
  const entries = [...fates];
  if (entries.some(([, { kind }]) => kind === "unknown")) return undefined;
  for (const [objectId, fate] of entries) {
    if (fate.kind === "there" || fate.kind === "unknown") continue;
    const how = fate.kind === "used" ? `was used by ${fate.byDigest}` : "was made part of another one";
    return { reason: "COIN_SPENT", message: `the coin ${objectId} ${how}` };
  }
  return undefined;
}

/** Ends a queued sweep. Returns false if it had ended before. */
async function end(
  db: Queryable,
  { id, projectId }: SweepSubject,
  {
    state,
    digest,
    failure,
  }: {
    readonly state: "landed" | "refused";
    readonly digest: string | null;
    readonly failure?: OperationFailure;
  },
): Promise<boolean> {
  const endedCount = await execute(
    db,
    sql`UPDATE sweep SET state = ${state}, tx_digest = ${digest}, failure_reason = ${failure?.reason ?? null},
       failure_message = ${failure?.message ?? null}, updated_at = now()
     WHERE id = ${id} AND state = 'queued' RETURNING id`,
  );
  if (endedCount === 0) return false;
  const action = state === "landed" ? "sweep.land" : "sweep.refuse";
  await writeAuditEvent(db, SWEEPER, { projectId, action, subject: id });
  return true;
}

function fieldsOf({ id, projectId, address, coinType, amount, coins, destination }: SweepSubject): object {
  return { sweep: id, projectId, address, coinType, amount, coins: coins.length, destination };
}
