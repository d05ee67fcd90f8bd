import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import { loadCustody, loadRehearsal } from "../actions/load-flows.ts";
import { checkObjectId, checkSeed, invalid } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { CustodyStage, LeaveArgs, LeaveResult, RefuseArgs, RefuseResult } from "./custody-within.ts";
import type { Rehearsal, RehearseArgs } from "./rehearse-within.ts";
import type { TreasuryAuthorization } from "./treasury-authorization.ts";

/** Creates the actions on the Treasury that keeps the dWallets' capabilities. */
export function createCustodyActions(context: ClientContext): CustodyActions {
  return {
    async leave(args, options = {}) {
      checkConsentArgs(args);
      checkRecipient(args.recipient);
      return await runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        return (await loadCustody(action)).leaveWithin(context, action, own);
      });
    },
    async signLeave(args, options = {}) {
      checkConsentArgs(args);
      checkRecipient(args.recipient);
      return await runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        const { signAuthorization } = await loadCustody(action);
        return (await signAuthorization(context, action, { action: "leave", ...own })).authorization;
      });
    },
    async rehearseLeave(args, options = {}) {
      checkConsentArgs(args);
      if (args.packageId !== undefined) checkObjectId("packageId", args.packageId);
      return await runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        return (await loadRehearsal(action)).rehearseWithin(context, action, own);
      });
    },
    async refuseRelease(args, options = {}) {
      checkConsentArgs(args);
      return await runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        return (await loadCustody(action)).refuseWithin(context, action, own);
      });
    },
    async signRefusal(args, options = {}) {
      checkConsentArgs(args);
      return await runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        const { signAuthorization } = await loadCustody(action);
        return (await signAuthorization(context, action, { action: "refuse", ...own })).authorization;
      });
    },
  };
}

/** The actions that take a dWallet out of the service. */
export interface CustodyActions {
  /**
   * Takes a dWallet out of the service: the recipient becomes the owner of its capability, and then signs with the
   * user's share and Ika alone. The service first completes the submitted signatures. The client reads the Treasury,
   * signs the authorization, asks the service to submit it, and verifies the result on the chain. A repeated call
   * after success returns the result again.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the capability went to another address than the recipient.
   * @throws {TssError} EXIT_UNCONFIRMED when the service reports success but the chain does not show it.
   * @throws {TssError} TIMEOUT when the deadline passes; repeat the call, or use `signLeave` and `submitLeave`.
   *
   * @example
   * const { dwalletCapId, transactionDigest } = await client.leave({ seed, dwalletId, recipient });
   */
  leave(args: LeaveArgs, options?: ActionOptions<CustodyStage>): Promise<LeaveResult>;
  /**
   * Signs the authorization to leave. It does not use the service if the client has a `treasuryId` and either a
   * `fullnodeUrl` or a public network. Submit it with `submitLeave` or `tss treasury exit`, from any
   * Sui address that has some SUI for gas.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   *
   * @example
   * const authorization = await client.signLeave({ seed, dwalletId, recipient });
   */
  signLeave(args: LeaveArgs, options?: ActionOptions<CustodyStage>): Promise<TreasuryAuthorization>;
  /**
   * Shows that the user could leave now, and changes nothing: the Treasury holds the capability and records the seed's
   * owner, the seed signs the authorization, and every fullnode says that the Treasury would execute it. The signed
   * authorization never leaves the client: what the fullnodes simulate has random bytes as its signature. It does not
   * use the service under the same conditions as `signLeave`. Run it on a schedule, such as once a day.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   * @throws {TssError} AUTHORIZATION_REFUSED when the Treasury would refuse it; `metadata.abort` is the reason.
   * @throws {TssError} TREASURY_MISMATCH when the Treasury would accept a signature that is not the owner's.
   * @throws {TssError} CHAIN_UNAVAILABLE when a fullnode does not answer.
   *
   * @example
   * const { checkedAt, epoch } = await client.rehearseLeave({ seed, dwalletId });
   */
  rehearseLeave(args: RehearseArgs, options?: ActionOptions<CustodyStage>): Promise<Rehearsal>;
  /**
   * Permanently forbids the Treasury's administrator to hand out the dWallet's capability or move it to another
   * Treasury. The owner can still leave. A repeated call has no effect.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   * @throws {TssError} EXIT_UNCONFIRMED when the service reports success but the chain does not show it.
   *
   * @example
   * await client.refuseRelease({ seed, dwalletId });
   */
  refuseRelease(args: RefuseArgs, options?: ActionOptions<CustodyStage>): Promise<RefuseResult>;
  /**
   * Signs the authorization to forbid a release. Submit it with `submitRefusal` or `tss treasury refuse`.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   *
   * @example
   * const authorization = await client.signRefusal({ seed, dwalletId });
   */
  signRefusal(args: RefuseArgs, options?: ActionOptions<CustodyStage>): Promise<TreasuryAuthorization>;
}

const TIMEOUT_MS = 180_000;
const MAX_VALID_EPOCHS = 1_000;
const NOBODY = `0x${"0".repeat(64)}`;

function checkConsentArgs({ seed, dwalletId, validForEpochs = 0 }: RefuseArgs): void {
  checkSeed(seed);
  checkObjectId("dwalletId", dwalletId);
  if (!Number.isInteger(validForEpochs) || validForEpochs < 0 || validForEpochs > MAX_VALID_EPOCHS)
    throw invalid("validForEpochs", `must be an integer from 0 to ${MAX_VALID_EPOCHS}`);
}

function checkRecipient(recipient: string): void {
  checkObjectId("recipient", recipient);
  if (recipient === NOBODY) throw invalid("recipient", "must not be the zero address");
}
