import { ConnectError } from "@connectrpc/connect";
import type { DWallet } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import type { Action } from "../action.ts";
import { isUuid } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { isAnswer, TssError } from "../errors.ts";

/** Returns the service's row of a dWallet. */
export async function askService(
  context: ClientContext,
  action: Action,
  dwalletId: string,
): Promise<DWallet> {
  return await context.call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
}

/**
 * Returns the service's row of a dWallet, or undefined if the service is off or something else answers in its place.
 * Throws what the service itself refuses, such as a wrong key.
 */
export async function askIfReachable(
  context: ClientContext,
  action: Action,
  dwalletId: string,
): Promise<DWallet | undefined> {
  try {
    return await askService(context, action, dwalletId);
  } catch (error) {
    action.signal.throwIfAborted();
    if (!(error instanceof TssError)) throw error;
    if (error.cause instanceof ConnectError && isAnswer(error.cause)) throw error;
    return undefined;
  }
}

/** Returns the project of the client's key or session, as the service names it. */
export async function askProject(context: ClientContext, action: Action): Promise<string> {
  const { projectId } = await context.call(action, (options) => context.raw.account.getAccount({}, options));
  if (isUuid(projectId)) return projectId;
  throw new TssError("OUTPUT_MISMATCH", "the service names no valid project");
}
