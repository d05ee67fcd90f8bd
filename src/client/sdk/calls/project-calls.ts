import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Transport } from "@connectrpc/connect";
import {
  Account,
  type AccountKey,
  type GetAccountResponse,
} from "../../../../gen/client/tss/v1/account_pb.ts";
import {
  type DWallet,
  type EncryptionKey,
  ExitDrill_Outcome,
  type GetNetworkResponse,
  Onboarding,
} from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { type Holder, Sharing } from "../../../../gen/client/tss/v1/sharing_pb.ts";
import {
  Signing,
  type SignRequest,
  type SignRequest_Status,
} from "../../../../gen/client/tss/v1/signing_pb.ts";
import { type BillingCalls, createBillingCalls } from "./billing-calls.ts";
import {
  createServiceCalls,
  type ListArgs,
  type RequestOptions,
  type ServiceCaller,
} from "./service-calls.ts";
import { createUserCalls, type UserCalls } from "./user-calls.ts";

/** Creates the calls over a transport that adds the caller's headers. */
export function createProjectCalls(transport: Transport, caller?: ServiceCaller): ProjectCalls {
  const onboarding = createServiceCalls(Onboarding, transport, caller);
  const sharing = createServiceCalls(Sharing, transport, caller);
  const signing = createServiceCalls(Signing, transport, caller);
  const account = createServiceCalls(Account, transport, caller);
  return {
    users: createUserCalls(transport, caller),
    account: (options) => account.getAccount({}, options),
    listAccountKeys: account.listAccountKeys,
    network: (options) => onboarding.getNetwork({}, options),
    getDWallet: onboarding.getDWallet,
    listDWallets: onboarding.listDWallets,
    reportExitDrill: async ({ dwalletId, outcome, checkedAt = new Date() }, options) =>
      void (await onboarding.reportExitDrill(
        { dwalletId, outcome: ExitDrill_Outcome[outcome], checkTime: timestampFromDate(checkedAt) },
        options,
      )),
    listEncryptionKeys: onboarding.listEncryptionKeys,
    listHolders: async (args, options) => (await sharing.listHolders(args, options)).holders,
    removeHolder: sharing.removeHolder,
    releaseSign: signing.releaseSign,
    cancelSign: signing.cancelSign,
    getSign: signing.getSign,
    listSigns: signing.listSigns,
    ...createBillingCalls(transport, caller),
  };
}

/**
 * The service's data about a project, in the service's own messages. The client does not compare it with the chain.
 * Lists start with the newest item and fetch the next page on demand. A failed call rejects with a {@link TssError}.
 */
export interface ProjectCalls extends BillingCalls {
  /** The users of the project. */
  readonly users: UserCalls;
  /**
   * Reads the project of the client's key, and what the key may do.
   *
   * @throws {TssError} INVALID_KEY when the service does not know the key.
   *
   * @example
   * const { projectName, scopes } = await client.account();
   */
  account(options?: RequestOptions): Promise<GetAccountResponse>;
  /**
   * Lists the keys of the project, including revoked and expired ones. A list contains only each key's prefix, never
   * the key itself.
   *
   * @throws {TssError} SCOPE_MISSING when the key lacks the scope `read`.
   *
   * @example
   * for await (const { name, prefix } of client.listAccountKeys()) console.log(name, prefix);
   */
  listAccountKeys(args?: ListArgs, options?: RequestOptions): AsyncIterable<AccountKey>;
  /**
   * Reads the network's ids, its keys and the service's sender addresses.
   *
   * @throws {TssError} UNREACHABLE when the service does not answer.
   *
   * @example
   * const { network } = await client.network();
   */
  network(options?: RequestOptions): Promise<GetNetworkResponse>;
  /**
   * Reads one dWallet of the project.
   *
   * @throws {TssError} DWALLET_NOT_FOUND when the project has no such dWallet.
   *
   * @example
   * const { state } = await client.getDWallet({ dwalletId });
   */
  getDWallet(args: { readonly dwalletId: string }, options?: RequestOptions): Promise<DWallet>;
  /**
   * Lists the project's dWallets: all, those with a given name, in one state or of one user.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const { dwalletId } of client.listDWallets()) console.log(dwalletId);
   */
  listDWallets(args?: ListDWalletsArgs, options?: RequestOptions): AsyncIterable<DWallet>;
  /**
   * Tells the service the outcome of a rehearsed exit, for `getDWallet`, `listDWallets` and the console. It is the word of
   * the client's key. A report that is not newer than the last one changes nothing.
   *
   * @throws {TssError} DWALLET_NOT_FOUND when the project has no such dWallet.
   * @throws {TssError} SCOPE_MISSING when the key lacks the scope `sign`.
   * @throws {TssError} VALIDATION when the time is more than five minutes in the future.
   *
   * @example
   * const { checkedAt } = await client.rehearseLeave({ seed, dwalletId });
   * await client.reportExitDrill({ dwalletId, outcome: "could_leave", checkedAt });
   */
  reportExitDrill(args: ReportExitDrillArgs, options?: RequestOptions): Promise<void>;
  /**
   * Lists the encryption keys of the project: all, or those that were registered for one user.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const key of client.listEncryptionKeys()) console.log(key);
   */
  listEncryptionKeys(args?: ListEncryptionKeysArgs, options?: RequestOptions): AsyncIterable<EncryptionKey>;
  /**
   * Lists those with whom the owner has shared a dWallet: first those whose share is not final, and of both the newest
   * first, in all the first 50. A caller that is confined to other users sees its own users alone.
   *
   * @throws {TssError} DWALLET_NOT_FOUND when the project has no such dWallet.
   *
   * @example
   * for (const { holderAddress, state } of await client.listHolders({ dwalletId })) console.log(holderAddress, state);
   */
  listHolders(args: { readonly dwalletId: string }, options?: RequestOptions): Promise<readonly Holder[]>;
  /**
   * Ends a holder's use of a dWallet at this service. The holder keeps the share. To end every use, move the funds to
   * another dWallet.
   *
   * @throws {TssError} HOLDER_NOT_FOUND when the dWallet was never shared with this address.
   * @throws {TssError} WRONG_STATE while the network has not verified the share; try again.
   *
   * @example
   * await client.removeHolder({ dwalletId, holderAddress: recipient.address });
   */
  removeHolder(
    args: { readonly dwalletId: string; readonly holderAddress: string },
    options?: RequestOptions,
  ): Promise<Holder>;
  /**
   * Releases a half that `signLater` gave: the network then makes the signature. `resumeSign` waits for it and verifies
   * it. A repeated call changes nothing.
   *
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   * @throws {TssError} SCOPE_MISSING when the key lacks the scope `release`.
   * @throws {TssError} WRONG_STATE when the half is not held: not verified yet, cancelled or expired, or its giver is
   *   revoked.
   * @throws {TssError} USER_FROZEN when the user of the dWallet is frozen.
   *
   * @example
   * await approver.releaseSign({ signRequestId });
   * const { signature } = await approver.resumeSign({ signRequestId });
   */
  releaseSign(args: { readonly signRequestId: string }, options?: RequestOptions): Promise<SignRequest>;
  /**
   * Ends a held half, which then gets no signature. The service refunds the price without the price of the hold. A
   * repeated call changes nothing.
   *
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   * @throws {TssError} SCOPE_MISSING when the key has none of the scopes `sign`, `propose` and `release`.
   * @throws {TssError} WRONG_STATE when the half is not held: not verified yet, released or ended.
   *
   * @example
   * await client.cancelSign({ signRequestId });
   */
  cancelSign(args: { readonly signRequestId: string }, options?: RequestOptions): Promise<SignRequest>;
  /**
   * Reads one sign request of the project. It does not verify the signature; `resumeSign` and `resume` do.
   *
   * @throws {TssError} VALIDATION when the id is malformed.
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   *
   * @example
   * const { status } = await client.getSign({ signRequestId });
   */
  getSign(args: { readonly signRequestId: string }, options?: RequestOptions): Promise<SignRequest>;
  /**
   * Lists the project's sign requests: all, or those of one dWallet, state or user.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   *
   * @example
   * for await (const request of client.listSigns({ dwalletId })) console.log(request.signRequestId);
   */
  listSigns(args?: ListSignsArgs, options?: RequestOptions): AsyncIterable<SignRequest>;
}

/** Arguments of `listDWallets`. */
export interface ListDWalletsArgs extends ListArgs {
  readonly name?: string | undefined;
  /** A name of `DWalletState`, such as `Active`. `awaiting_user_share` means `AwaitingKeyHolderSignature`. */
  readonly state?: string | undefined;
  /** Default: all users. Empty: what `onboard` makes without a user. */
  readonly userReference?: string | undefined;
}

/** Arguments of `reportExitDrill`. */
export interface ReportExitDrillArgs {
  readonly dwalletId: string;
  /** `refused` means that the owner could not leave. An unanswered rehearsal shows neither. */
  readonly outcome: "could_leave" | "refused";
  /** When the exit was rehearsed. Default: now. */
  readonly checkedAt?: Date | undefined;
}

/** Arguments of `listEncryptionKeys`. */
export interface ListEncryptionKeysArgs extends ListArgs {
  readonly userReference?: string | undefined;
}

/** Arguments of `listSigns`. */
export interface ListSignsArgs extends ListArgs {
  readonly dwalletId?: string | undefined;
  readonly status?: SignRequest_Status | undefined;
  readonly userReference?: string | undefined;
  /** Only requests whose half is held. Default false. */
  readonly held?: boolean | undefined;
}
