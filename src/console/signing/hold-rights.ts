import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { AccountKey } from "../../../gen/client/tss/v1/account_pb.ts";
import { SignRequest_Hold_State as Hold, type SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";

/** Says in words how a half is held. */
export function holdText(state: Hold): string {
  switch (state) {
    case Hold.reserved:
      return "The half is not submitted yet. It is held once the network has verified it.";
    case Hold.verifying:
      return "The half is on its way to the network, which verifies it.";
    case Hold.held:
      return "The network has verified the half. It waits for its release.";
    case Hold.released:
      return "The half is released, and the request goes on like any other.";
    case Hold.ended:
      return "The half gets no signature.";
    default:
      return "This console does not know the state of the half.";
  }
}

/** What a key can do with a held half. */
export type HoldAction = keyof typeof SCOPES;

/** The scopes of which one is needed. */
const SCOPES = { release: ["release"], cancel: ["sign", "propose", "release"] } as const;

/** Returns the needed scopes in words: `the scopes sign, propose or release`. */
export function scopesText(action: HoldAction): string {
  return action === "release" ? "the scope release" : "the scope sign, propose or release";
}

/** Returns why a key cannot release or cancel the half now, as a sentence; undefined if it can. */
export function whyNot(action: HoldAction, { request, scopes, nowMs }: AskedHold): string | undefined {
  if (scopes !== undefined && !hasScope(action, scopes)) return `The key lacks ${scopesText(action)}.`;
  const { hold } = request;
  if (hold?.state === Hold.reserved || hold?.state === Hold.verifying)
    return "The network has not verified the half yet.";
  if (hold?.state !== Hold.held) return "The half is not held any more.";
  const isOver = hold.expireTime !== undefined && timestampMs(hold.expireTime) <= nowMs;
  return action === "release" && isOver ? "The time of the hold is over." : undefined;
}

interface AskedHold {
  readonly request: Pick<SignRequest, "hold">;
  /** The scopes of the key; undefined for a key that may do everything. */
  readonly scopes: readonly string[] | undefined;
  readonly nowMs: number;
}

/** Returns true if a key of the project may act on a held half: it is valid, has a scope for it, and reaches the dWallet. */
export function mayAct(action: HoldAction, { key, request, nowMs }: AskedKey): boolean {
  const { scopes, revokeTime, expireTime, allowance } = key;
  const isValid = revokeTime === undefined && (expireTime === undefined || timestampMs(expireTime) > nowMs);
  const users = allowance?.userReferences ?? [];
  const dwallets = allowance?.dwalletIds ?? [];
  return (
    isValid &&
    hasScope(action, scopes) &&
    (users.length === 0 || users.includes(request.userReference ?? "")) &&
    (dwallets.length === 0 || dwallets.includes(request.dwalletId))
  );
}

interface AskedKey {
  readonly key: Pick<AccountKey, "scopes" | "revokeTime" | "expireTime" | "allowance">;
  readonly request: Pick<SignRequest, "userReference" | "dwalletId">;
  readonly nowMs: number;
}

const hasScope = (action: HoldAction, scopes: readonly string[]): boolean =>
  SCOPES[action].some((scope) => scopes.includes(scope));
