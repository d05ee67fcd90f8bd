import { type DescMessage, fromBinary, type MessageShape, toBinary } from "@bufbuild/protobuf";
import sql from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { type Database, execute, type Queryable } from "../store/database.ts";
import { isLockTimeout } from "../store/sql-errors.ts";
import type { Idempotency } from "./idempotency.ts";
import { findRemembered, type KeyScope, keyInsert, type Remembered } from "./key-table.ts";

/**
 * Runs the effect of a KEYED call once for each key. Inserts the key first, so that one of several concurrent calls
 * runs and the others wait for it. A repeated call gets the stored answer. A call that fails leaves no key. Locks the
 * project of the scope, then the key, then the rows that the effect locks. Throws IDEMPOTENCY_KEY_REUSED if the key
 * stands for another request, and IDEMPOTENCY_IN_FLIGHT if the first call still runs after the wait.
 */
export async function runOnce<T>(
  database: Database,
  call: KeyedCall,
  { effect, keep, recall, waitMs = DEFAULT_WAIT_MS }: OnceOptions<T>,
): Promise<T> {
  const { idempotency } = call;
  if (idempotency === undefined) return database.transaction(effect);
  for (let attempt = 0; attempt < ATTEMPTS_MAX_COUNT; attempt++) {
    const first = await database.transaction(async (db) => {
      if (!(await takeKey(db, call, idempotency, waitMs))) return undefined;
      const result = await effect(db);
      const { subjectId = null, reply = null } = keep(result);
      const { scope, network } = call;
      await execute(
        db,
        sql`UPDATE idempotency_key SET subject_id = ${subjectId}, reply = ${reply}
            WHERE scope = ${scope} AND network = ${network} AND key = ${idempotency.key}`,
      );
      return { result };
    });
    if (first !== undefined) return first.result;
    const remembered = await findRemembered(database, call, idempotency);
    if (remembered !== undefined) return recall(remembered);
  }
  throw inFlight();
}

export interface KeyedCall extends KeyScope {
  /** Undefined for a call without a key, which always runs. */
  readonly idempotency: Idempotency | undefined;
}

/** The effect of a call, and the answer to a repeated call. */
export interface OnceOptions<T> {
  /** Runs in one transaction with the key: both are committed, or neither. */
  readonly effect: (db: Queryable) => Promise<T>;
  /** The data to remember: the id of the inserted row, or the reply, which must not contain a secret. */
  readonly keep: (result: T) => Partial<Remembered>;
  /** The answer to a repeated call. */
  readonly recall: (remembered: Remembered) => T | Promise<T>;
  /** How long to wait for a first call that still runs. Default 2 s. */
  readonly waitMs?: number;
}

const DEFAULT_WAIT_MS = 2_000;
/** The sweep may delete a key between two reads, but not twice in a row. */
const ATTEMPTS_MAX_COUNT = 3;

/** Stores the whole reply of a call. */
export function wholeReply<D extends DescMessage>(
  schema: D,
): Pick<OnceOptions<MessageShape<D>>, "keep" | "recall"> {
  return {
    keep: (reply) => ({ reply: toBinary(schema, reply) }),
    recall({ reply }) {
      if (reply === null) throw new Error(`no reply of type ${schema.typeName} is remembered`);
      return fromBinary(schema, reply);
    },
  };
}

async function takeKey(
  db: Queryable,
  call: KeyedCall,
  idempotency: Idempotency,
  waitMs: number,
): Promise<boolean> {
  if (call.scope !== ADMIN_SCOPE) {
    await execute(db, sql`SELECT 1 FROM project WHERE id = ${call.scope} FOR NO KEY UPDATE`);
  }
  await execute(db, sql`SELECT set_config('lock_timeout', ${`${waitMs}ms`}, true)`);
  try {
    const { key, method, fingerprint } = idempotency;
    const nothingYet = sql`(VALUES (${call.scope}::text, ${call.network}::text, ${key}::text, ${method}::text,
      ${fingerprint}::bytea, NULL::uuid)) AS made (scope, network, key, method, fingerprint, subject_id)`;
    const takenCount = await execute(db, keyInsert(nothingYet));
    // The effect waits for its own locks as long as any other call.
    await execute(db, sql`SELECT set_config('lock_timeout', '0', true)`);
    return takenCount > 0;
  } catch (error) {
    throw isLockTimeout(error) ? inFlight(error) : error;
  }
}

/** The scope of the operator's keys. */
export const ADMIN_SCOPE = "admin";

function inFlight(cause?: unknown): ServiceError {
  return new ServiceError("IDEMPOTENCY_IN_FLIGHT", "a call with this idempotency key is in progress", {
    cause,
  });
}
