import type { DWallet } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { isObjectId } from "../../../protocol/chain/object-id.ts";
import { sleep } from "../../../protocol/chain/poll.ts";
import type { Action } from "../action.ts";
import type { ClientContext } from "../context.ts";
import { TssError } from "../errors.ts";
import {
  completeOnboard,
  makeDWallet,
  type OnboardResult,
  type OnboardStage,
  type SessionPoint,
} from "./onboard-within.ts";
import { encodeResumeToken } from "./resume-token.ts";

/** Returns the dWallet with the point's name, or makes it in the point's session. */
export async function getOrMake(
  context: ClientContext,
  action: Action<OnboardStage>,
  seed: Uint8Array,
  point: SessionPoint & { readonly name: string },
): Promise<OnboardResult> {
  const { curve } = point;
  await action.resumeAt(encodeResumeToken(point));
  action.stage("network");
  for (;;) {
    const found = await findByName(context, action, point);
    if (found === undefined) {
      try {
        return await makeDWallet(context, action, seed, point);
      } catch (error) {
        // Another caller took the name in the meantime.
        if (!(error instanceof TssError) || error.reason !== "DWALLET_NAME_TAKEN") throw error;
      }
    } else if (isObjectId(found.dwalletId)) {
      const { dwalletId } = found;
      await action.resumeAt(encodeResumeToken({ ...point, dwalletId, sessionIdentifier: undefined }));
      return await completeOnboard(context, action, { seed, curve, dwalletId });
    }
    await sleep(PAUSE_MS, action.signal);
  }
}

/** The delay before the next lookup of a dWallet that another caller has just requested. */
const PAUSE_MS = 500;

async function findByName(
  context: ClientContext,
  action: Action,
  { name, userReference = "" }: { readonly name: string; readonly userReference?: string | undefined },
): Promise<DWallet | undefined> {
  // An empty reference leaves out what belongs to other users of the project.
  const page = await context.call(action, (options) =>
    context.raw.onboarding.listDWallets({ name, userReference }, options),
  );
  const [found] = page.dwallets;
  if (found !== undefined && found.name !== name)
    throw new TssError("OUTPUT_MISMATCH", "the service answered with a dWallet of another name");
  return found;
}
