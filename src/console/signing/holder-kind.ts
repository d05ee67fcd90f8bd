import type { Holder } from "../../../gen/client/tss/v1/sharing_pb.ts";

/** Says what a holder is, beside the user that owns the dWallet. */
export function holderKind(
  { userReference }: Pick<Holder, "userReference">,
  owner: string | undefined,
): string {
  if (userReference === undefined) return "a key of no user, such as a recovery";
  return userReference === owner ? "another key of the owner" : "another user";
}
