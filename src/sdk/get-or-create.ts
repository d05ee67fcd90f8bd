import type { DWallet } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import { sleep } from "../protocol/poll.ts";
import { type Action, type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkDWalletName, checkSeed, isObjectId } from "./checks.ts";
import { completeOnboard } from "./complete-onboard.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { makeDWallet, newOnboardPoint, type SessionPoint } from "./onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";

/** What `getOrCreate` takes. */
export interface GetOrCreateArgs extends OnboardArgs {
  /** 1 to 128 characters without control characters, the first one no space. The service knows it. */
  readonly name: string;
}

/** How long to wait for a dWallet that somebody else has just asked for. */
const PAUSE_MS = 500;

/**
 * The project's dWallet of a name; makes it where there is none. Callers that ask at the same time, in any process, get the
 * same one, and one of them pays. The name decides nothing that is trusted: the share is derived from the seed and compared
 * with the chain, so that another seed's dWallet is SHARE_UNVERIFIED, and one on another curve OUTPUT_MISMATCH. Throws a
 * TssError, like `onboard`.
 */
export async function getOrCreate(
  context: ClientContext,
  { seed, curve, name, timeoutMs = 600_000 }: GetOrCreateArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkDWalletName(name);
  const point = { ...newOnboardPoint(context.network, curve), name };
  return await runAction(timeoutMs, options, (action) =>
    getOrMake(context, action, ownSeed(action, seed), point),
  );
}

/** Gets the dWallet of the point's name, or makes it in the point's session. */
export async function getOrMake(
  context: ClientContext,
  action: Action<OnboardStage>,
  seed: Uint8Array,
  point: SessionPoint & { readonly name: string },
): Promise<OnboardResult> {
  const { curve, name } = point;
  await action.resumeAt(point);
  action.stage("network");
  for (;;) {
    const found = await findByName(context, action, name);
    if (found === undefined) {
      try {
        return await makeDWallet(context, action, seed, point);
      } catch (error) {
        // Somebody else was quicker.
        if (!(error instanceof TssError) || error.reason !== "DWALLET_NAME_TAKEN") throw error;
      }
    } else if (isObjectId(found.dwalletId)) {
      const { dwalletId } = found;
      await action.resumeAt({ ...point, dwalletId, sessionIdentifier: undefined });
      return await completeOnboard(context, action, { seed, curve, dwalletId });
    }
    await sleep(PAUSE_MS, action.signal);
  }
}

async function findByName(
  context: ClientContext,
  action: Action,
  name: string,
): Promise<DWallet | undefined> {
  const page = await call(action, (options) => context.raw.onboarding.listDWallets({ name }, options));
  const [found] = page.dwallets;
  if (found !== undefined && found.name !== name)
    throw new TssError("OUTPUT_MISMATCH", "the service answered with a dWallet of another name");
  return found;
}
