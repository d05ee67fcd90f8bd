import { type CryptoEngine, EngineError, type OutputOfShareInput } from "../crypto/engine.ts";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import type { CompletedDWallet } from "./read-dwallet.ts";
import type { ShareSource } from "./recover-share.ts";
import { recoverFrom } from "./recover-within.ts";

/**
 * Returns the user's share of an Active dWallet: the given one, or the one that the source yields. Compares it with the
 * whole public output, so that no substituted public key passes. The action destroys a share that this function
 * recovers. Throws SHARE_MISMATCH when a given share does not fit.
 */
export async function openFittingShare(
  context: ClientContext,
  action: Action<"parameters" | "share">,
  dwallet: CompletedDWallet,
  source: ShareSource,
  given: SecretBytes | undefined,
): Promise<FittingShare> {
  const { curve } = source;
  const { networkEncryptionKeyId } = dwallet;
  action.stage("parameters");
  await context.engine.ready();
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  if (given === undefined)
    return { share: await recoverFrom(context, action, source, dwallet, parameters), parameters };
  const claim = {
    ...{ curve, parameters, userSecretKeyShare: given, dwalletOutput: dwallet.state.publicOutput },
    signal: action.signal,
  };
  if (!(await fits(context.engine, claim)))
    throw new TssError("SHARE_MISMATCH", "the user's share does not fit the dWallet's public output");
  return { share: given, parameters };
}

/** A user's share that fits its dWallet, and the parameters of the dWallet's key. */
export interface FittingShare {
  readonly share: SecretBytes;
  readonly parameters: Uint8Array;
}

/** Returns whether a share fits. A share that cannot be parsed does not fit. */
async function fits(engine: CryptoEngine, claim: OutputOfShareInput): Promise<boolean> {
  try {
    return await engine.isOutputOfShare(claim);
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}
