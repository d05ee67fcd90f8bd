import { addressesOfKey, type NamedAddress } from "../protocol/addresses.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkObjectId } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import type { Curve } from "./names.ts";
import { readActiveDWallet } from "./read-dwallet.ts";

/** The one stage of reading a key. */
export type ReadKeyStage = "dwallet";

/** Which key is read. */
export interface ReadKeyArgs {
  readonly dwalletId: string;
  readonly curve: Curve;
  /** Default 60,000. */
  readonly timeoutMs?: number | undefined;
}

/** The public half of a dWallet, as the chain has it. */
export interface ReadKeyResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** What the public key is called on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
}

/**
 * Reads the public key of an Active dWallet from the chain, never from the service. The client remembers it, so that it
 * is read once.
 */
export async function readKey(
  context: ClientContext,
  { dwalletId, curve, timeoutMs = 60_000 }: ReadKeyArgs,
  options: ActionOptions<ReadKeyStage> = {},
): Promise<ReadKeyResult> {
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  return await runAction(timeoutMs, options, async (action) => {
    action.facts["dwalletId"] = dwalletId;
    action.stage("dwallet");
    const { state } = await readActiveDWallet(context, action, dwalletId, curve);
    const publicKey = publicKeyFromDWalletOutput(curve, state.publicOutput);
    return {
      dwallet: { id: dwalletId, curve },
      publicKeyHex: bytesToHex(publicKey),
      addresses: addressesOfKey(curve, publicKey),
    };
  });
}
