import { runAction } from "../../action.ts";
import { randomUuid } from "../../calls/service-calls.ts";
import { checkTimeout, invalid } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadFlows } from "../load-flows.ts";
import type { SignOptions } from "../signing/sign.ts";
import { checkSignArgs, ownSecrets, type SignArgs } from "../signing/sign-args.ts";
import type { SignLaterResult } from "./sign-later-within.ts";

/** Gives the user's half of one message now. The network makes the signature once the half is released. */
export async function signLater(
  context: ClientContext,
  args: SignLaterArgs,
  options: SignOptions = {},
): Promise<SignLaterResult> {
  const { holdSeconds, timeoutMs = 180_000 } = args;
  checkTimeout(timeoutMs);
  if (!Number.isInteger(holdSeconds) || holdSeconds < MIN_SECONDS || holdSeconds > MAX_SECONDS)
    throw invalid("holdSeconds", `must be a whole number of seconds from ${MIN_SECONDS} to ${MAX_SECONDS}`);
  const request = checkSignArgs(args, options.idempotencyKey ?? randomUuid());
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSecrets(action, request);
    const { signLaterWithin } = await loadFlows(action);
    return await signLaterWithin(context, action, own, holdSeconds);
  });
}

/** Arguments of `signLater`. */
export interface SignLaterArgs extends SignArgs {
  /** How long the half waits for its release: 60 to 2,592,000 seconds, which are 30 days. */
  readonly holdSeconds: number;
}

const MIN_SECONDS = 60;
const MAX_SECONDS = 2_592_000;
