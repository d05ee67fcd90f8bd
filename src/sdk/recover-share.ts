import { bytesToHex } from "../protocol/bytes.ts";
import { userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkObjectId, checkSeed } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import type { Curve } from "./names.ts";
import { openShare } from "./open-share.ts";
import { readActiveDWallet } from "./read-dwallet.ts";

/** The stages of a recovery, in order. */
export type RecoverShareStage = "dwallet" | "parameters" | "keys" | "decrypt";

/** What a recovery takes. */
export interface RecoverShareArgs {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  readonly dwalletId: string;
  /** If absent, the service is asked for it. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** A recovered share. */
export interface RecoverShareResult {
  /** The user's secret: keep it like the seed. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
}

/** Recovers the user's share of an Active dWallet from the seed and the chain. Throws a TssError. */
export async function recoverShare(
  context: ClientContext,
  args: RecoverShareArgs,
  options: ActionOptions<RecoverShareStage> = {},
): Promise<RecoverShareResult> {
  const { seed, curve, dwalletId, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (args.encryptedUserSecretKeyShareId !== undefined) {
    checkObjectId("encryptedUserSecretKeyShareId", args.encryptedUserSecretKeyShareId);
  }
  return await runAction(timeoutMs, options, async (action) => {
    action.facts["dwalletId"] = dwalletId;
    action.stage("dwallet");
    const { publicOutput, networkEncryptionKeyId } = await readActiveDWallet(
      context,
      action,
      dwalletId,
      curve,
    );
    const encryptedUserSecretKeyShareId =
      args.encryptedUserSecretKeyShareId ??
      (await call(action, (callOptions) => context.raw.onboarding.getDWallet({ dwalletId }, callOptions)))
        .encryptedUserSecretKeyShareId;
    action.stage("parameters");
    await context.engine.ready();
    await context.parameters.load(action, { curve, networkEncryptionKeyId });
    action.stage("keys");
    const keys = action.own(await context.engine.deriveUserKeys({ seed, curve }));
    action.stage("decrypt");
    const reference = { dwalletId, networkEncryptionKeyId, publicOutput, encryptedUserSecretKeyShareId };
    const share = action.own(await openShare(context, action, keys, reference));
    return {
      userSecretKeyShareHex: bytesToHex(share.reveal()),
      userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, publicOutput)),
      encryptedUserSecretKeyShareId,
    };
  });
}
