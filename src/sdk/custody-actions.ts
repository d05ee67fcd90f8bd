import { type ActionOptions, runAction } from "./action.ts";
import { checkObjectId, checkSeed, invalid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadCustody } from "./load-custody.ts";
import { ownSeed } from "./own-seed.ts";
import type { TreasuryAuthorization } from "./treasury-authorization.ts";

/** Creates the actions on the Treasury that keeps the dWallets' capabilities. */
export function createCustodyActions(context: ClientContext): CustodyActions {
  return {
    leave(args, options = {}) {
      checkConsentArgs(args);
      checkRecipient(args.recipient);
      return runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        return (await loadCustody(action)).leaveWithin(context, action, own);
      });
    },
    signLeave(args, options = {}) {
      checkConsentArgs(args);
      checkRecipient(args.recipient);
      return runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        const { signAuthorization } = await loadCustody(action);
        return (await signAuthorization(context, action, { action: "leave", ...own })).authorization;
      });
    },
    refuseRelease(args, options = {}) {
      checkConsentArgs(args);
      return runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        return (await loadCustody(action)).refuseWithin(context, action, own);
      });
    },
    signRefusal(args, options = {}) {
      checkConsentArgs(args);
      return runAction(args.timeoutMs ?? TIMEOUT_MS, options, async (action) => {
        const own = { ...args, seed: ownSeed(action, args.seed) };
        const { signAuthorization } = await loadCustody(action);
        return (await signAuthorization(context, action, { action: "refuse", ...own })).authorization;
      });
    },
  };
}

/** The user's way out of the service. */
export interface CustodyActions {
  /**
   * Takes a dWallet out of the service: its capability becomes the recipient's, who then signs with Ika alone and the
   * user's share. The service first completes the signatures that were submitted. The client reads the Treasury, signs,
   * asks the service to submit, and believes only the chain. A repeat after success says so again.
   *
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the capability has gone to somebody else than the recipient.
   * @throws {TssError} EXIT_UNCONFIRMED when the service says that the dWallet has left and the chain does not.
   * @throws {TssError} TIMEOUT when the deadline passes; repeat the call, or use `signLeave` and `submitLeave`.
   *
   * @example
   * const { dwalletCapId, transactionDigest } = await client.leave({ seed, dwalletId, recipient });
   */
  leave(args: LeaveArgs, options?: ActionOptions<CustodyStage>): Promise<LeaveResult>;
  /**
   * Signs the authorization to leave, without the service if the client has a `treasuryId` and a `fullnodeUrl` or a public
   * network. Anybody with some SUI can submit it with `submitLeave` or `tss treasury exit`.
   *
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   *
   * @example
   * const authorization = await client.signLeave({ seed, dwalletId, recipient });
   */
  signLeave(args: LeaveArgs, options?: ActionOptions<CustodyStage>): Promise<TreasuryAuthorization>;
  /**
   * Forbids for good that the administrator of the Treasury hands the dWallet's capability out or moves it to another
   * Treasury. The owner can still leave. A repeat after success says so again.
   *
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   *
   * @example
   * await client.refuseRelease({ seed, dwalletId });
   */
  refuseRelease(args: RefuseArgs, options?: ActionOptions<CustodyStage>): Promise<RefuseResult>;
  /**
   * Signs the authorization to forbid a release. Submit it with `submitRefusal` or `tss treasury refuse`.
   *
   * @throws {TssError} NOT_OWNER when the Treasury records another owner than the seed's.
   * @throws {TssError} DWALLET_LEFT when the Treasury does not hold the capability.
   *
   * @example
   * const authorization = await client.signRefusal({ seed, dwalletId });
   */
  signRefusal(args: RefuseArgs, options?: ActionOptions<CustodyStage>): Promise<TreasuryAuthorization>;
}

/** The stages, in order. */
export type CustodyStage = "custody" | "keys" | "request" | "verify";

/** Arguments of `refuseRelease`. */
export interface RefuseArgs {
  /** The 32 bytes that the dWallet was made with. They never leave the client. */
  readonly seed: Uint8Array;
  readonly dwalletId: string;
  /** For how many Sui epochs, of about a day each, the authorization is valid: 0 to 1,000. Default 7. */
  readonly validForEpochs?: number | undefined;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Arguments of `leave`. */
export interface LeaveArgs extends RefuseArgs {
  /** The Sui address that receives the capability: an address whose key the user has. */
  readonly recipient: string;
}

/** A dWallet that has left, as the chain says. */
export interface LeaveResult {
  /** The transaction of the exit. Null if the fullnode does not have it any more. */
  readonly transactionDigest: string | null;
  /** The capability: it approves messages to sign, for whoever owns it. */
  readonly dwalletCapId: string;
  readonly dwalletId: string;
  readonly recipient: string;
}

/** A dWallet whose release is refused, as the chain says. */
export interface RefuseResult {
  readonly dwalletId: string;
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
