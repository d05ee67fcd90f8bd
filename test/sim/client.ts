import { randomUUID } from "node:crypto";
import type { Allowance } from "../../src/service/access/allowances/allowance.ts";
import { useConsent } from "../../src/service/onboarding/custody/consents.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import { type Clock, pause } from "../../src/service/platform/lifecycle/clock.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { readSignRequest, type SignRequestRow } from "../../src/service/signing/sign-request.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { signConsent } from "../support/database/exits.ts";
import { keyed, layoutOfSignMessage, TEST_ORIGIN, TEST_TRIPLE } from "../support/database/rows.ts";
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
  /** The requests whose shares it spoiled, so that the network rejects them. */
  readonly spoiled: Set<string>;
  /** The requests that it reserved and abandoned. */
  readonly abandoned: Set<string>;
}

export interface ClientPlan {
  readonly clock: Clock;
  readonly projectId: string;
  readonly signCount: number;
  /** Whether and when it takes its dWallet out of the service. */
  readonly leaves: "meanwhile" | "afterwards" | "never";
  /** The network of the project; default localnet. */
  readonly network?: string;
  /** The limits of its key; default none. */
  readonly allowance?: Allowance | undefined;
}

/** Thrown for an error that a retry cannot fix. */
class Refused extends Error {
  override readonly name = "Refused";
}

const PAUSE_MS = 100;
/** The time limit of a call, in milliseconds. */
const CALL_MS = 1_000;
/** The temporary errors while replicas die and the fullnode fails. */
const TRY_AGAIN = [
  "CHAIN_UNAVAILABLE",
  "DEADLINE",
  "PRESIGN_POOL_EMPTY",
  "TOO_MANY_RESERVATIONS",
  // The windows of the budgets are short.
  "BUDGET_EXCEEDED",
];

/** A user of one project: makes a dWallet, signs with it, and repeats every call until it has an answer. */
export async function runClient(
  cluster: Cluster,
  random: Random,
  { clock, projectId, signCount, leaves, network = "localnet", allowance }: ClientPlan,
): Promise<ClientReport> {
  const caller = { projectId, network, allowance, origin: TEST_ORIGIN };
  const report: ClientReport = {
    ended: [],
    submitted: new Set(),
    spoiled: new Set(),
    abandoned: new Set(),
  };
  const { dwalletId, keypair } = await onboardUser(
    caller,
    (attempt) => call(({ deps }) => attempt(deps)),
    bytes,
    CALL_MS,
  );
  await Promise.all([
    ...Array.from({ length: signCount }, signOnce),
    ...(leaves === "meanwhile" ? [pause(clock, random.integer(0, 2_000)).then(leave)] : []),
  ]);
  if (leaves === "afterwards") await leave();
  return report;

  /** Takes the dWallet out with one authorization, which it repeats until the exit is final. */
  async function leave(): Promise<void> {
    const consent = await call(async ({ deps, network: { treasury } }) => {
      const chainIdentifier = await deps.readerFor(projectId).chainIdentifier();
      const client = { core: { getChainIdentifier: async () => ({ chainIdentifier }) } };
      return signConsent({ client, treasury }, keypair, { dwalletId });
    });
    await call(({ deps }) => useConsent(deps, caller, consent, time(CALL_MS)));
  }

  /** Reserves, then submits a good half, a bad half or nothing. Reserves again if the reservation has expired. */
  async function signOnce(): Promise<void> {
    const message = bytes(random.integer(0, 64));
    const userSignMessage = layoutOfSignMessage();
    const isSpoiled = random.happens(0.15);
    if (isSpoiled) userSignMessage[userSignMessage.length - 1] = JUNK;
    const isAbandoned = random.happens(0.15);
    for (;;) {
      const input = {
        dwalletId,
        triple: TEST_TRIPLE,
        message,
        idempotency: keyed(randomUUID()),
      };
      const reserved = await callUnlessLeft(({ deps }) => reserve(deps, caller, input, time(CALL_MS)));
      if (reserved === undefined) return;
      const { id } = reserved;
      if (isAbandoned) {
        report.abandoned.add(id);
        return;
      }
      try {
        await call(({ deps }) => submit(deps, caller, { signRequestId: id, userSignMessage }));
      } catch (error) {
        const isLeft = error instanceof ServiceError && error.reason === "DWALLET_LEFT";
        if (!(error instanceof Refused || isLeft)) throw error;
        report.abandoned.add(id);
        continue;
      }
      report.submitted.add(id);
      if (isSpoiled) report.spoiled.add(id);
      report.ended.push(
        await call(async ({ deps }) => {
          const row = await readSignRequest(deps.database, { id, caller: { projectId } });
          if (row?.status !== "completed" && row?.status !== "failed")
            throw new ServiceError("DEADLINE", "not yet");
          return row;
        }),
      );
      return;
    }
  }

  /** Like `call`. Returns undefined if the dWallet leaves or has left. */
  async function callUnlessLeft<T>(attempt: (replica: Replica) => Promise<T>): Promise<T | undefined> {
    try {
      return await call(attempt);
    } catch (error) {
      if (error instanceof ServiceError && error.reason === "DWALLET_LEFT") return undefined;
      throw error;
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
