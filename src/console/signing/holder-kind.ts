import { type Holder, Holder_State as State } from "../../../gen/client/tss/v1/sharing_pb.ts";

/** Says what a holder is, beside the user that owns the dWallet. */
export function holderKind(
  { userReference }: Pick<Holder, "userReference">,
  owner: string | undefined,
): string {
  if (userReference === undefined) return "a key of no user, such as a recovery";
  return userReference === owner ? "another key of the owner" : "another user";
}

/** Returns true if the service can remove the holder: the network has verified the share, and it is not removed yet. */
export function canRemove({ state }: Pick<Holder, "state">): boolean {
  return state === State.AwaitingAcceptance || state === State.Accepted;
}
