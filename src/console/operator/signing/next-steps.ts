/**
 * Returns what an operator does about a request or dWallet that failed, by the reason of the failure. A reason that this
 * console does not know leads to the runbook.
 */
export function nextStep(reason: string): NextStep {
  return STEPS[reason] ?? { text: "Look for the reason in the log and in the runbook.", runbook: undefined };
}

/** Returns what an operator does about a request that stays in a state for longer than it should. */
export function waitingStep(state: "queued" | "submitted"): NextStep {
  return state === "queued"
    ? {
        text: "If it stays queued for more than two minutes, find what the lanes wait for.",
        runbook: "SignsNotSubmitted",
      }
    : {
        text: "If it stays submitted for more than five minutes, look at its session on the chain.",
        runbook: "SignsNotCompleted",
      };
}

/** Advice to an operator. */
export interface NextStep {
  readonly text: string;
  /** The entry of the runbook; undefined if it has none. */
  readonly runbook: string | undefined;
}

/** The reasons by which the service fails a sign request or a dWallet. */
export const STEPS: Readonly<Record<string, NextStep>> = {
  RESERVATION_EXPIRED: {
    text: "Nothing was charged, and there is nothing to do. The project reserves again, and submits its half in time.",
    runbook: undefined,
  },
  NETWORK_REJECTED: {
    text: "The network refused what the client computed. If this project has many such failures, contact it. If several projects have them, a client or the network has changed its version.",
    runbook: "SignsRefunded",
  },
  CHAIN_REJECTED: {
    text: "The chain refused the operation for good; its message has the abort. Compare it with the state of the Treasury.",
    runbook: "SignsRefunded",
  },
  SIGNATURE_INVALID: {
    text: "The fullnode showed a signature that does not verify. Compare the session’s object on a second fullnode.",
    runbook: "FullnodeMixesUp",
  },
  SIGN_CANCELLED: {
    text: "A key or session of the project cancelled the held half. There is nothing to do.",
    runbook: undefined,
  },
  HOLD_EXPIRED: {
    text: "Nobody released the held half in time. The project reserves again.",
    runbook: undefined,
  },
  DWALLET_LEFT: {
    text: "The owner has taken the dWallet out of the service, or is doing so. Only the holder of its capability can request signatures.",
    runbook: undefined,
  },
  DWALLET_TAKEN: {
    text: "The dWallet of this session exists already. The client repeats the call with a new session.",
    runbook: undefined,
  },
  WRONG_SENDER: {
    text: "The client bound its DKG to an address that sends nothing for this service. It reads the network again and repeats the call.",
    runbook: undefined,
  },
};
