import { TssError } from "threshold-signing-service/sdk";

/** What to do, by an error's reason. */
const ADVICE: Readonly<Record<string, string>> = {
  INVALID_KEY: "The service does not know this API key. Copy it again from .data/dev.json.",
  MISSING_KEY: "Enter the API key.",
  UNREACHABLE:
    "The service does not answer. Look at its URL, and whether it runs. This page calls https, and http on this machine.",
  CHAIN_UNAVAILABLE: "The chain does not answer. Try again.",
  CODE_UNAVAILABLE: "A part of the page did not load. Reload the page.",
  ABORTED: "You cancelled the action. What the service was asked for goes on: resume it here.",
  TIMEOUT: "The time is up. Resume the action.",
  INSUFFICIENT_CREDIT: "The project has too little credit. Add some.",
  PRESIGN_POOL_EMPTY: "No presign is ready. Try again in some seconds.",
  RATE_LIMITED: "There were too many calls. Try again in some seconds.",
  SHARE_UNVERIFIED: "This key does not follow from this seed. Paste the seed that it was made with.",
  VALIDATION: "Correct what the message names.",
  MESSAGE_TOO_LARGE: "Enter a shorter message.",
  NETWORK_MISMATCH: "The service is not on the local network, or it lies. Do not continue.",
};

/** What a person is told of an error. */
export function explain(error: unknown): string {
  if (!(error instanceof TssError)) return `The page failed: ${String(error)}`;
  const { reason, requestId } = error;
  const request = requestId === undefined ? "" : `, request ${requestId}`;
  return `${ADVICE[reason] ?? "The action failed."} (${reason}: ${error.message}${request})`;
}
