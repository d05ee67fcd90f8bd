import { loadPart } from "../../crypto/load-part.ts";
import { runAction } from "../action.ts";
import { checkTimeout, invalid } from "../checks.ts";
import type { LeaveResult, RefuseResult } from "./custody-within.ts";
import type { SubmitArgs } from "./submit-consent.ts";
import { fromAuthorization } from "./treasury-authorization.ts";

/**
 * Submits an authorization to leave, without the service. Any Sui key with some SUI for gas can submit it; the key need
 * not be the user's. A repeated call after success returns the result again.
 *
 * @throws {TssError} VALIDATION when the authorization is malformed.
 * @throws {TssError} NETWORK_MISMATCH when the fullnode serves another chain than the one that the user signed for.
 * @throws {TssError} TREASURY_MISMATCH when the chain has no such Treasury.
 * @throws {TssError} AUTHORIZATION_REFUSED when the Treasury refuses it; `metadata.abort` is the reason.
 * @throws {TssError} CHAIN_UNAVAILABLE when the fullnode does not confirm the transaction; submit it again.
 *
 * @example
 * const fullnode = "https://fullnode.mainnet.sui.io:443";
 * const { dwalletCapId } = await submitLeave({ authorization, fullnode, signer });
 */
export async function submitLeave(args: SubmitArgs): Promise<LeaveResult> {
  const consent = fromAuthorization(args.authorization);
  if (consent.action !== "leave") throw invalid("authorization.action", "must be leave");
  checkTimeout(args.timeoutMs ?? TIMEOUT_MS);
  return await runAction(args.timeoutMs ?? TIMEOUT_MS, {}, async (action) => {
    const { submitConsent } = await loadPart(() => import("./submit-consent.ts"), action.signal);
    const { transactionDigest, dwalletCapId } = await submitConsent(action, args, consent);
    const { dwalletId, recipient = "" } = consent;
    return { transactionDigest, dwalletCapId, dwalletId, recipient };
  });
}

/**
 * Submits an authorization to forbid a release, without the service, like {@link submitLeave}. A repeated call after
 * success returns the result again.
 *
 * @throws {TssError} VALIDATION when the authorization is malformed.
 * @throws {TssError} NETWORK_MISMATCH when the fullnode serves another chain than the one that the user signed for.
 * @throws {TssError} TREASURY_MISMATCH when the chain has no such Treasury.
 * @throws {TssError} AUTHORIZATION_REFUSED when the Treasury refuses it; `metadata.abort` is the reason.
 * @throws {TssError} CHAIN_UNAVAILABLE when the fullnode does not confirm the transaction; submit it again.
 *
 * @example
 * await submitRefusal({ authorization, fullnode: "https://fullnode.mainnet.sui.io:443", signer });
 */
export async function submitRefusal(args: SubmitArgs): Promise<RefuseResult> {
  const consent = fromAuthorization(args.authorization);
  if (consent.action !== "refuse") throw invalid("authorization.action", "must be refuse");
  checkTimeout(args.timeoutMs ?? TIMEOUT_MS);
  return await runAction(args.timeoutMs ?? TIMEOUT_MS, {}, async (action) => {
    const { submitConsent } = await loadPart(() => import("./submit-consent.ts"), action.signal);
    await submitConsent(action, args, consent);
    return { dwalletId: consent.dwalletId };
  });
}

const TIMEOUT_MS = 60_000;
