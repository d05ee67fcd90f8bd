import { ServiceError } from "../../errors/service-error.ts";

/** Returns the error for a dWallet in such a state. */
export function hasLeft(dwalletId: string, state: string): ServiceError {
  const message =
    state === "Left"
      ? "the dWallet has left the service: only the holder of its capability can sign with it"
      : "the dWallet is leaving the service, which makes no new signatures with it";
  return new ServiceError("DWALLET_LEFT", message, { metadata: { dwalletId, state } });
}

/** Returns whether a dWallet in this state makes no new signatures because it leaves or has left. */
export function isLeft(state: string): boolean {
  return state === "Leaving" || state === "Left";
}
