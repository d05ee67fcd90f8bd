import { TssError } from "threshold-signing-service/sdk";

/** Advice for the user, by the error's reason. */
const ADVICE: Readonly<Record<string, string>> = {
  SESSION_UNAVAILABLE: "The page got no session. Reload the page, and sign in.",
  SESSION_REVOKED: "The session was ended. Reload the page, and sign in.",
  INVALID_KEY: "The service does not know the session. The page and its backend must use the same service.",
  DWALLET_NOT_FOUND: "The user who is signed in has no such key.",
  SIGN_REQUEST_NOT_FOUND: "The user who is signed in has no such action. Forget it.",
  USER_FROZEN: "The project has stopped this user.",
  UNREACHABLE:
    "The service does not answer. Check that it runs, and its URL. This page calls https, and http on this machine.",
  WRONG_URL: "Something other than the service answers at this URL. Correct the URL.",
  CHAIN_UNAVAILABLE: "The chain does not answer. Try again.",
  CODE_UNAVAILABLE: "A part of the page did not load. Reload the page.",
  ABORTED: "You cancelled the action. The service continues its part. Resume the action here.",
  TIMEOUT: "The action timed out. Resume it.",
  INSUFFICIENT_CREDIT: "The project has too little credit. Add credit.",
  PRESIGN_POOL_EMPTY: "No presign is ready. Try again in some seconds.",
  RATE_LIMITED: "There were too many calls. Try again in some seconds.",
  SHARE_UNVERIFIED: "This key does not follow from this seed. Paste the seed that created it.",
  VALIDATION: "Correct the field that the message names.",
  MESSAGE_TOO_LARGE: "Enter a shorter message.",
  NETWORK_MISMATCH: "The service is not on the local network, or it lies. Do not continue.",
};

/** Describes an error to the user. */
export function explain(error: unknown): string {
  if (!(error instanceof TssError)) return `The page failed: ${String(error)}`;
  const { reason, requestId } = error;
  const request = requestId === undefined ? "" : `, request ${requestId}`;
  // The client does not know why the page's own function failed.
  const { cause } = error;
  const why = reason === "SESSION_UNAVAILABLE" && cause instanceof Error ? `: ${cause.message}` : "";
  return `${ADVICE[reason] ?? "The action failed."} (${reason}: ${error.message}${why}${request})`;
}
