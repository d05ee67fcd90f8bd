import { askMpc } from "./ask-mpc.ts";
import type { NetworkAddresses } from "./contracts/addresses.ts";
import { completeSession } from "./contracts/coordinator/completion/complete-session.ts";
import {
  requestedSequenceNumbers,
  requestedSession,
  type WaitingSession,
} from "./contracts/coordinator/completion/requested-session.ts";
import { systemCommit } from "./fullnode/execution/system-transaction.ts";
import type { Ledger } from "./fullnode/objects/ledger.ts";
import type { MpcOutcome, NetworkMpc } from "./mpc/engine.ts";

/** Completes every waiting session, including those from before a restart, and every one that is opened later. */
export function startNetwork(options: IkaNetworkOptions): IkaNetwork {
  const { ledger, addresses, mpcOf, log } = options;
  const concurrencyCount = options.concurrencyCount ?? DEFAULT_CONCURRENCY_COUNT;
  const running = new Map<bigint, Promise<void>>();
  const decided: Verdict[] = [];
  let closing = false;
  let giveUp = (): void => undefined;
  const closed = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });

  ledger.onCommit(wake);
  wake();

  return {
    async close() {
      closing = true;
      giveUp();
      await Promise.all(running.values());
    },
  };

  function wake(): void {
    if (closing || running.size >= concurrencyCount) return;
    for (const sequenceNumber of requestedSequenceNumbers(ledger.objects, addresses)) {
      if (running.size >= concurrencyCount) return;
      if (running.has(sequenceNumber)) continue;
      const work = complete(sequenceNumber)
        .catch((error: unknown) =>
          log("session failed", { sequenceNumber: Number(sequenceNumber), error: text(error) }),
        )
        .finally(() => {
          running.delete(sequenceNumber);
          wake();
        });
      running.set(sequenceNumber, work);
    }
  }

  async function complete(sequenceNumber: bigint): Promise<void> {
    const session = requestedSession(ledger.objects, addresses, sequenceNumber);
    if (session === undefined) return;
    const outcome = await outcomeOf(session);
    if (outcome === undefined) return;
    if (outcome.kind === "rejected") {
      log("session rejected", {
        sequenceNumber: Number(sequenceNumber),
        kind: session.kind,
        reason: outcome.reason,
      });
    }
    await write({ session, outcome });
  }

  /** Once the ledger is free, writes all verdicts that are ready in one commit, and thus in one checkpoint. */
  function write(verdict: Verdict): Promise<void> {
    decided.push(verdict);
    return ledger.exclusive((time) => {
      const batch = decided.splice(0, VERDICTS_PER_COMMIT);
      const [first] = batch;
      // An earlier turn already wrote this verdict.
      if (first === undefined) return undefined;
      const name = `complete-session/${first.session.sequenceNumber}`;
      return systemCommit(ledger, time, name, [addresses.coordinatorId], (state) => {
        for (const { session, outcome } of batch) completeSession(state, addresses, session, outcome);
      });
    });
  }

  /** Returns undefined if the network closes first: the session stays on the chain, and the next start resumes it. */
  async function outcomeOf(session: WaitingSession): Promise<MpcOutcome | undefined> {
    for (let attempt = 1; ; attempt++) {
      try {
        const mpc = await mpcOf(session.data.dwallet_network_encryption_key_id);
        return await Promise.race([askMpc(mpc, session), closed]);
      } catch (error) {
        if (closing) return undefined;
        log("mpc failed", { sequenceNumber: Number(session.sequenceNumber), attempt, error: text(error) });
        if (attempt === MAX_ATTEMPTS) return { kind: "rejected", reason: "the MPC engine failed" };
      }
    }
  }
}

/** The Ika network's half: processes sessions in the order they were opened and writes the verdicts to the chain. */
export interface IkaNetwork {
  /** Abandons the running MPC work, which the next start resumes, and waits for pending writes. */
  close(): Promise<void>;
}

export interface IkaNetworkOptions {
  readonly ledger: Ledger;
  readonly addresses: NetworkAddresses;
  /** The cryptography under a network encryption key. */
  readonly mpcOf: (networkEncryptionKeyId: string) => Promise<NetworkMpc>;
  readonly log: WriteLog;
  /**
   * The number of sessions that the MPC has at a time, in order: enough that it can move signatures ahead. Default 64.
   */
  readonly concurrencyCount?: number;
}

const DEFAULT_CONCURRENCY_COUNT = 64;
/** The number of engine failures after which a session is rejected. A rejection by the engine is never retried. */
const MAX_ATTEMPTS = 3;

interface Verdict {
  readonly session: WaitingSession;
  readonly outcome: MpcOutcome;
}

/** Far below the limits on events and dynamic fields of one transaction. */
const VERDICTS_PER_COMMIT = 32;

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Writes a line of the log. */
export type WriteLog = (message: string, fields: Readonly<Record<string, unknown>>) => void;
