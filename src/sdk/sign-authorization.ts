import { fromBase58 } from "@mysten/sui/utils";
import { curveOfNumber } from "../protocol/algorithms.ts";
import { type TreasuryConsent, treasuryConsentBytes } from "../protocol/treasury-consent.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import type { CustodyStage, LeaveArgs } from "./custody-actions.ts";
import { TssError } from "./errors.ts";
import { readTreasuryCustody, type TreasuryCustody } from "./read-custody.ts";
import {
  type SignedTreasuryConsent,
  type TreasuryAuthorization,
  toAuthorization,
} from "./treasury-authorization.ts";

/** Reads the Treasury and signs. The arguments contain the action's copy of the seed. */
export async function signAuthorization(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: AuthorizationArgs,
): Promise<SignedAuthorization> {
  const { dwalletId } = args;
  action.facts["dwalletId"] = dwalletId;
  action.stage("custody");
  const custody = await readTreasuryCustody(context, action, await context.treasuryId(action), dwalletId);
  if (custody.held === undefined) throw notHeld(custody.treasuryId, dwalletId);
  return await signFor(context, action, args, custody);
}

/** Creates the error for a dWallet whose capability the Treasury does not hold. */
export function notHeld(treasuryId: string, dwalletId: string): TssError {
  return new TssError("DWALLET_LEFT", "the Treasury does not hold the dWallet's capability", {
    metadata: { dwalletId, treasuryId },
  });
}

/** Signs an authorization for the Treasury's current state. */
export async function signFor(
  context: ClientContext,
  action: Action<CustodyStage>,
  args: AuthorizationArgs,
  { held, nextNonce: nonce, treasuryId }: TreasuryCustody,
): Promise<SignedAuthorization> {
  const { dwalletId, seed, recipient, validForEpochs = DEFAULT_VALID_EPOCHS } = args;
  const { signal } = action;
  action.stage("keys");
  const curve = held && curveOfNumber(held.curveNumber);
  if (curve === undefined) throw notHeld(treasuryId, dwalletId);
  await context.engine.ready();
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal }));
  if (keys.signerAddress !== held?.owner) {
    throw new TssError("NOT_OWNER", "the Treasury records another owner of the dWallet than this seed's", {
      metadata: { dwalletId, treasuryId },
    });
  }
  const { chainIdentifier, epoch } = await context.chainPosition(action);
  const consent: TreasuryConsent = {
    ...{ action: args.action, chain: fromBase58(chainIdentifier), treasuryId, dwalletId, nonce },
    ...(args.action === "leave" && recipient !== undefined && { recipient }),
    expiresEpoch: epoch + BigInt(validForEpochs),
  };
  const { signerSecretKey, signerPublicKey: publicKey } = keys;
  const message = treasuryConsentBytes(consent);
  const signature = await context.engine.signAsUser({ signerSecretKey, message, signal });
  const signed = { ...consent, publicKey, signature };
  return { signed, authorization: toAuthorization(signed) };
}

export interface AuthorizationArgs extends Omit<LeaveArgs, "recipient"> {
  readonly action: "leave" | "refuse";
  readonly recipient?: string | undefined;
}

/** A signed authorization, in both forms. */
export interface SignedAuthorization {
  readonly signed: SignedTreasuryConsent;
  readonly authorization: TreasuryAuthorization;
}

const DEFAULT_VALID_EPOCHS = 7;
