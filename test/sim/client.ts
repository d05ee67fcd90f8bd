import { randomUUID } from "node:crypto";
import { ServiceError } from "../../src/errors/service-error.ts";
import { type Clock, pause } from "../../src/lifecycle/clock.ts";
import { reserve } from "../../src/signing/reserve.ts";
import { readSignRequest, type SignRequestRow } from "../../src/signing/sign-request.ts";
import { submit } from "../../src/signing/submit.ts";
import { keyed, layoutOfSignMessage, TEST_ORIGIN, TEST_TRIPLE } from "../support/rows.ts";
import type { Cluster } from "./cluster.ts";
import { Died } from "./mortal.ts";
import { onboardUser, time } from "./onboard-user.ts";
import type { Random } from "./random.ts";
import type { Replica } from "./replica.ts";
import { JUNK } from "./sim-mpc.ts";

/** The report of a client. */
export interface ClientReport {
  /** The requests that it saw completed or failed. */
  readonly ended: SignRequestRow[];
  /** The requests that it saw submitted. */
  readonly submitted: Set<string>;
  /** The requests that it reserved and abandoned. */
  readonly abandoned: Set<string>;
}

/** Thrown for an error that a retry cannot repair. */
class Refused extends Error {
  override readonly name = "Refused";
}

const PAUSE_MS = 100;
/** The time limit of a call, in milliseconds. */
const CALL_MS = 1_000;
/** The temporary errors while replicas die and the fullnode fails. */
const TRY_AGAIN = ["CHAIN_UNAVAILABLE", "DEADLINE", "PRESIGN_POOL_EMPTY", "TOO_MANY_RESERVATIONS"];

/** A user of one project: makes a dWallet, signs with it, and repeats every call until it has an answer. */
export async function runClient(
  cluster: Cluster,
  random: Random,
  { clock, projectId, signCount }: { clock: Clock; projectId: string; signCount: number },
): Promise<ClientReport> {
  const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
  const report: ClientReport = {
    ended: [],
    submitted: new Set(),
    abandoned: new Set(),
  };
  const { dwalletId } = await onboardUser(
    caller,
    (attempt) => call(({ deps }) => attempt(deps)),
    bytes,
    CALL_MS,
  );
  await Promise.all(Array.from({ length: signCount }, signOnce));
  return report;

  /** Reserves, then submits a good half, a bad half or nothing. Reserves again if the reservation has expired. */
  async function signOnce(): Promise<void> {
    const message = bytes(random.integer(0, 64));
    const userSignMessage = layoutOfSignMessage();
    if (random.happens(0.15)) userSignMessage[userSignMessage.length - 1] = JUNK;
    const isAbandoned = random.happens(0.15);
    for (;;) {
      const input = {
        dwalletId,
        triple: TEST_TRIPLE,
        message,
        idempotency: keyed(randomUUID()),
      };
      const { id } = await call(({ deps }) => reserve(deps, caller, input, time(CALL_MS)));
      if (isAbandoned) {
        report.abandoned.add(id);
        return;
      }
      try {
        await call(({ deps }) => submit(deps, caller, { signRequestId: id, userSignMessage }));
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        report.abandoned.add(id);
        continue;
      }
      report.submitted.add(id);
      report.ended.push(
        await call(async ({ deps }) => {
          const row = await readSignRequest(deps.database, { id, projectId });
          if (row?.status !== "completed" && row?.status !== "failed")
            throw new ServiceError("DEADLINE", "not yet");
          return row;
        }),
      );
      return;
    }
  }

  /** Repeats a call with any replica until one answers. */
  async function call<T>(attempt: (replica: Replica) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await attempt(await cluster.any());
      } catch (error) {
        if (error instanceof ServiceError && error.reason === "WRONG_STATE") throw new Refused(error.message);
        if (!isTransient(error)) throw error;
        await pause(clock, PAUSE_MS);
      }
    }
  }

  function bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => random.integer(0, 255));
  }
}

function isTransient(error: unknown): boolean {
  if (error instanceof Died) return true;
  if (error instanceof ServiceError) return TRY_AGAIN.includes(error.reason) || isTransient(error.cause);
  return error instanceof Error && error.cause !== undefined && isTransient(error.cause);
}
