import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CreateDWalletRequestSchema, DWallet } from "../../gen/client/tss/v1/onboarding_pb.ts";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { isObjectId } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";

/**
 * Requests the DKG of a session. If the session was used before, for example by this action before an interruption,
 * returns the session's dWallet: DKG messages are random, so a repeated request has another message.
 */
export async function requestDWallet(
  context: ClientContext,
  action: Action,
  request: MessageInitShape<typeof CreateDWalletRequestSchema>,
): Promise<CreatedDWallet> {
  for (;;) {
    try {
      const created = await context.call(action, (options) =>
        context.raw.onboarding.createDWallet(request, options),
      );
      return { ...created, isEarlier: false };
    } catch (error) {
      if (!(error instanceof TssError) || error.reason !== "SESSION_REUSED") throw error;
      const { dwalletId = "", state } = error.metadata;
      if (isObjectId(dwalletId)) {
        return { dwalletId, encryptedUserSecretKeyShareId: "", txDigest: "", isEarlier: true };
      }
      if (state !== "Submitting") throw error;
      await sleep(PAUSE_MS, action.signal);
    }
  }
}

/** The service's answer to a request for a DKG. */
export interface CreatedDWallet
  extends Pick<DWallet, "dwalletId" | "encryptedUserSecretKeyShareId" | "txDigest"> {
  /** Whether an earlier request with another message already made the session's dWallet. */
  readonly isEarlier: boolean;
}

/** The delay before the next attempt while an earlier request's transaction is pending. */
const PAUSE_MS = 500;
