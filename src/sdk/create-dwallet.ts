import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CreateDWalletRequestSchema, DWallet } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { sleep } from "../protocol/poll.ts";
import type { Action } from "./action.ts";
import { call } from "./call.ts";
import { isObjectId } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";

/** The service's answer to a request for a DKG. */
export interface CreatedDWallet
  extends Pick<DWallet, "dwalletId" | "encryptedUserSecretKeyShareId" | "txDigest"> {
  /** Whether the session has a dWallet from an earlier request with another message. */
  readonly isEarlier: boolean;
}

/** How long to wait for the transaction of an earlier request, before asking again. */
const PAUSE_MS = 500;

/**
 * Requests the DKG of a session. A session that was used before, as by this action before it was interrupted, gives the
 * dWallet that was made for it: the DKG's messages are random, so that a repeat is another request.
 */
export async function createDWallet(
  context: ClientContext,
  action: Action,
  request: MessageInitShape<typeof CreateDWalletRequestSchema>,
): Promise<CreatedDWallet> {
  for (;;) {
    try {
      const created = await call(action, (options) => context.raw.onboarding.createDWallet(request, options));
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
