import sql from "sql-template-tag";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { waitForSignal } from "../coordination/wait-for-signal.ts";
import { ServiceError } from "../errors/service-error.ts";
import { nullable, oneOf, text } from "../store/columns.ts";
import type { Database } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { ChainNetwork } from "./network.ts";
import type { OperationName } from "./operation.ts";

/**
 * Waits until the operation of a row has ended. Throws CHAIN_REJECTED if it can never land, and DEADLINE at the time
 * limit. After DEADLINE the operation continues, and the caller may retry the call.
 */
export async function waitForOperation(
  deps: WaitDeps,
  kind: OperationName,
  subjectId: string,
  { timeoutMs = DEFAULT_WAIT_MS, signal }: WaitTime,
): Promise<void> {
  const { clock } = deps.network;
  const endMs = clock.now() + Math.max(0, timeoutMs - REPLY_TIME_MS);
  for (;;) {
    const leftMs = endMs - clock.now();
    if (leftMs <= 0 || signal.aborted) {
      throw new ServiceError("DEADLINE", "the operation is not on the chain yet; retry the same call");
    }
    const look = () => readEnd(deps.database, kind, subjectId);
    const wait = { clock, timeoutMs: Math.min(leftMs, LOOK_AGAIN_MS), signal };
    const ended = await waitForSignal(deps.signals, topics.operation(subjectId), wait, look);
    if (ended === undefined) continue;
    if (ended.state === "landed") return;
    throw new ServiceError("CHAIN_REJECTED", "the chain refused the operation permanently", {
      metadata: { chainError: ended.failureDetail ?? "" },
    });
  }
}

/** The time limits of a caller's wait. */
export interface WaitTime {
  /** The time until the call's deadline. Default: {@link DEFAULT_WAIT_MS}. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
}

export interface WaitDeps {
  readonly database: Database;
  readonly network: Pick<ChainNetwork, "clock">;
  readonly signals: Pick<Signals, "subscribe">;
}

const DEFAULT_WAIT_MS = 30_000;
/** The part of the call's time that is reserved for the reply. */
const REPLY_TIME_MS = 250;
/** A signal may be lost, so the row is also polled. */
const LOOK_AGAIN_MS = 500;

interface EndedOperation {
  readonly state: "landed" | "failed";
  readonly failureDetail: string | null;
}

async function readEnd(
  database: Database,
  kind: OperationName,
  subjectId: string,
): Promise<EndedOperation | undefined> {
  const [row] = await readRows<EndedOperation>(
    database,
    sql`SELECT state, failure_detail AS "failureDetail" FROM chain_operation
        WHERE kind = ${kind} AND subject_id = ${subjectId} AND state IN ('landed', 'failed')`,
    { state: oneOf("landed", "failed"), failureDetail: nullable(text) },
  );
  return row;
}
