import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import type { ActionOptions } from "./action.ts";
import { importKey } from "./actions/imports/import-key.ts";
import type { ImportKeyArgs } from "./actions/imports/import-within.ts";
import { type SignLaterArgs, signLater } from "./actions/later/sign-later.ts";
import type { SignLaterResult } from "./actions/later/sign-later-within.ts";
import { type GetOrCreateArgs, getOrCreate, onboard, resumeOnboard } from "./actions/onboard.ts";
import type {
  OnboardArgs,
  OnboardResult,
  OnboardStage,
  ResumeOnboardArgs,
} from "./actions/onboard-within.ts";
import { readKey } from "./actions/read-key.ts";
import { adoptDWallet } from "./actions/recovery/adopt-dwallet.ts";
import type {
  AdoptDWalletArgs,
  AdoptDWalletResult,
  AdoptDWalletStage,
} from "./actions/recovery/adopt-within.ts";
import { findDWallets } from "./actions/recovery/find-dwallets.ts";
import type {
  FindDWalletsArgs,
  FindDWalletsResult,
  FindDWalletsStage,
} from "./actions/recovery/find-dwallets-within.ts";
import { recoverShare } from "./actions/recovery/recover-share.ts";
import type {
  ReadKeyArgs,
  ReadKeyResult,
  ReadKeyStage,
  RecoverShareArgs,
  RecoverShareResult,
  RecoverShareStage,
} from "./actions/recovery/recover-within.ts";
import { resume } from "./actions/resume.ts";
import type { ResumeArgs, ResumeResult } from "./actions/resume-within.ts";
import { acceptShare, registerRecipient, shareWith } from "./actions/sharing/share-with.ts";
import type {
  AcceptShareArgs,
  AcceptShareResult,
  AcceptShareStage,
  RecipientKey,
  RegisterRecipientArgs,
  RegisterRecipientStage,
  ShareWithArgs,
  ShareWithResult,
  ShareWithStage,
} from "./actions/sharing/share-within.ts";
import { type ResumeSignArgs, resumeSign, type SignOptions, sign } from "./actions/signing/sign.ts";
import type { SignArgs } from "./actions/signing/sign-args.ts";
import { type SignManyItem, type SignManyOptions, signMany } from "./actions/signing/sign-many.ts";
import type { SignResult, SignStage } from "./actions/signing/sign-within.ts";
import { type WatchSignArgs, watchSign } from "./actions/signing/watch-sign.ts";
import { createEventCalls, type EventCalls } from "./calls/event-calls.ts";
import { createProjectCalls, type ProjectCalls } from "./calls/project-calls.ts";
import { authorizedTransport, type ClientOptions, createContext } from "./client-options.ts";
import type { RawClients } from "./context.ts";
import { type CustodyActions, createCustodyActions } from "./custody/custody-actions.ts";
import { createSessionCalls, type SessionCalls } from "./sessions/session-calls.ts";

/**
 * A client of one service, network and project. A failed action rejects with a {@link TssError}. Besides the reasons
 * of each action, its reason can be TIMEOUT, ABORTED, UNREACHABLE or CHAIN_UNAVAILABLE.
 */
export interface TssClient extends ProjectCalls, CustodyActions {
  /**
   * Makes a dWallet. The service charges once per dWallet. Errors that {@link TssClient.resume} can continue from have
   * a `resumeToken`.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the curve is unknown.
   * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price.
   * @throws {TssError} OUTPUT_MISMATCH when the network's output does not match the user's half; onboard again.
   * @throws {TssError} CUSTODY_MISMATCH when the user could not take the dWallet out of the service; do not use it.
   * @throws {TssError} TIMEOUT when the deadline passes; resume with the error's token.
   *
   * @example
   * const { dwallet, addresses } = await client.onboard({ seed, curve: "ED25519" });
   */
  onboard(args: OnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /**
   * Returns the dWallet of a name, of the project or of the named user, or makes it if there is none. Concurrent
   * callers get the same dWallet, and only one pays.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} SHARE_UNVERIFIED when the dWallet was made from another seed.
   * @throws {TssError} OUTPUT_MISMATCH when the dWallet is on another curve.
   * @throws {TssError} TIMEOUT when the deadline passes; resume with the error's token.
   *
   * @example
   * const { dwallet } = await client.getOrCreate({ name: "treasury", seed, curve: "SECP256K1" });
   */
  getOrCreate(args: GetOrCreateArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /**
   * Continues an interrupted onboarding from the dWallet's id. It never charges.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} DWALLET_NOT_FOUND when the project has no such dWallet.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
   *
   * @example
   * const { dwalletId } = error.metadata;
   * await client.resumeOnboard({ seed, curve: "ED25519", dwalletId });
   */
  resumeOnboard(args: ResumeOnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /**
   * Makes a dWallet of a private key that the user had before. Its public key and addresses stay the same. The service
   * charges once per dWallet, the price of an imported key. Whoever has another copy of the private key signs without
   * the service, whatever its policies: see `docs/imported-keys.md`.
   *
   * The client splits the key between the user and the network. The private key never leaves the process: the service
   * gets one half of it, encrypted to the network. Keep the seed as for `onboard`. Errors that {@link TssClient.resume}
   * can continue from have a `resumeToken`; `resume` then needs the seed and the private key.
   *
   * @throws {TssError} VALIDATION when an argument is malformed; `metadata.field` names it.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the curve is unknown.
   * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price.
   * @throws {TssError} CHAIN_REJECTED when the service imports no keys of the curve.
   * @throws {TssError} DWALLET_NAME_TAKEN when another dWallet has the name.
   * @throws {TssError} OUTPUT_MISMATCH when the dWallet is not of the private key; do not use it.
   * @throws {TssError} CUSTODY_MISMATCH when the user could not take the dWallet out of the service; do not use it.
   * @throws {TssError} TIMEOUT when the deadline passes; resume with the error's token.
   *
   * @example
   * const { dwallet, addresses } = await client.importKey({ seed, curve: "SECP256K1", privateKey });
   * privateKey.fill(0);
   */
  importKey(args: ImportKeyArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /**
   * Signs a message and verifies the signature. The service charges once, when the client submits the user's half. A
   * repeated call with the same arguments and `idempotencyKey` continues the same request.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the network does not support this combination of curve, algorithm and
   *   hash, or the dWallet is on another curve.
   * @throws {TssError} MESSAGE_TOO_LARGE when the message is longer than 16,381 bytes.
   * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price.
   * @throws {TssError} DWALLET_NOT_ACTIVE when the dWallet is not Active.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
   * @throws {TssError} SHARE_MISMATCH when the given share does not fit the dWallet.
   * @throws {TssError} SIGNATURE_INVALID when the signature does not verify.
   * @throws {TssError} TIMEOUT when the deadline passes; resume with the error's token.
   *
   * @example
   * const { signature } = await client.sign({
   *   seed, dwalletId, message,
   *   curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512",
   * });
   */
  sign(args: SignArgs, options?: SignOptions): Promise<SignResult>;
  /**
   * Signs several messages, 8 at a time by default. The results have the order of the items, like those of
   * `Promise.allSettled`: a failed item rejects only its own result, with a {@link TssError}.
   *
   * @throws {TssError} VALIDATION when an option is malformed.
   *
   * @example
   * const results = await client.signMany(messages.map((message) => ({ ...key, ...algorithm, message })));
   * for (const result of results) if (result.status === "rejected") console.error(result.reason);
   */
  signMany(
    items: readonly SignManyItem[],
    options?: SignManyOptions,
  ): Promise<PromiseSettledResult<SignResult>[]>;
  /**
   * Continues any interrupted action from an error's `resumeToken`, in this or another process. However often it is
   * resumed, the action makes one dWallet or one signature and is charged once. A token from a third party could name
   * another dWallet or algorithm: pass `dwalletId`, `curve`, `signatureAlgorithm` and `hashScheme` to have them
   * compared. An import also needs its private key.
   *
   * @throws {TssError} VALIDATION when the token is malformed or does not match an argument, or a required argument is
   *   missing; `metadata.field` names it.
   * @throws {TssError} TIMEOUT when the deadline passes; resume again.
   *
   * @example
   * if (error instanceof TssError && error.resumeToken !== undefined) {
   *   await client.resume(error.resumeToken, { seed, message });
   * }
   */
  resume(
    token: string,
    args?: ResumeArgs,
    options?: ActionOptions<OnboardStage | SignStage>,
  ): Promise<ResumeResult>;
  /**
   * Gives the user's half of one message now, and has the service hold it until somebody releases it with
   * `releaseSign`, for at most `holdSeconds`. Resolves once the network has verified the half. The half fixes the
   * dWallet, the message and the algorithm: the network completes it for nothing else. It does not bind the service
   * itself, which could complete it before a release. The price is that of a signature and of a hold, charged once.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price.
   * @throws {TssError} TOO_MANY_RESERVATIONS when the project or the dWallet has too many held halves.
   * @throws {TssError} CHAIN_REJECTED when the service holds no halves of this algorithm.
   * @throws {TssError} WRONG_STATE when the service is of a release without holds; it gets no half.
   * @throws {TssError} TIMEOUT when the deadline passes; call again with the same arguments and idempotency key.
   *
   * @example
   * const { signRequestId } = await client.signLater({ ...key, ...algorithm, message, holdSeconds: 86_400 });
   * await approver.releaseSign({ signRequestId });
   */
  signLater(args: SignLaterArgs, options?: SignOptions): Promise<SignLaterResult>;
  /**
   * Follows a submitted sign request to its end and verifies the signature. Needs no seed, and never charges. The
   * message and the dWallet come from the service; use `resume` to have them compared.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   * @throws {TssError} WRONG_STATE when the user's half was never submitted; call `sign` again with the same arguments
   *   and idempotency key.
   * @throws {TssError} SIGNATURE_INVALID when the signature does not verify.
   *
   * @example
   * const { signature } = await client.resumeSign({ signRequestId });
   */
  resumeSign(args: ResumeSignArgs, options?: ActionOptions<SignStage>): Promise<SignResult>;
  /**
   * Reads a dWallet's public key and addresses from the chain, never from the service. If the seed is given, it proves
   * that the key belongs to the user's share.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} DWALLET_NOT_FOUND when the chain has no such dWallet.
   * @throws {TssError} DWALLET_NOT_ACTIVE when the dWallet is not Active.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} SHARE_UNVERIFIED when a seed is given and the share is not derived from it.
   * @throws {TssError} SHARE_MISMATCH when the given share does not lead to the public key.
   *
   * @example
   * const { publicKeyHex, addresses } = await client.readKey({ dwalletId, curve: "ED25519" });
   */
  readKey(args: ReadKeyArgs, options?: ActionOptions<ReadKeyStage>): Promise<ReadKeyResult>;
  /**
   * Finds the dWallets whose encrypted share the chain holds under the keys of a seed, on one curve or on all. It
   * searches the Treasury, so it finds no dWallet that has left. The service is not asked if the client has a
   * `treasuryId` and, on a localnet, a `fullnodeUrl` and `ika`. Each page of 500 dWallets of the Treasury is one read.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the curve is unknown.
   * @throws {TssError} TREASURY_MISMATCH when the chain has no such Treasury.
   * @throws {TssError} TIMEOUT when the deadline passes; give a longer `timeoutMs` for a large Treasury.
   *
   * @example
   * const { dwallets } = await client.findDWallets({ seed });
   * for (const { dwalletId, curve, state } of dwallets) console.log(dwalletId, curve, state);
   */
  findDWallets(
    args: FindDWalletsArgs,
    options?: ActionOptions<FindDWalletsStage>,
  ): Promise<FindDWalletsResult>;
  /**
   * Recovers the user's share from the seed and the chain. The client asks the service only for what the chain does not
   * tell, so the service may be off.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} DWALLET_NOT_FOUND when the chain has no such dWallet.
   * @throws {TssError} DWALLET_NOT_ACTIVE when the dWallet is not Active.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed, or nothing names the DKG's session:
   *   then give `sessionDigestHex`.
   *
   * @example
   * const { userSecretKeyShareHex } = await client.recoverShare({ seed, dwalletId, curve: "ED25519" });
   */
  recoverShare(
    args: RecoverShareArgs,
    options?: ActionOptions<RecoverShareStage>,
  ): Promise<RecoverShareResult>;
  /**
   * Brings an Active dWallet that the Treasury holds and no project has into the client's project, such as one that a
   * service lost with its database. It costs nothing and sends no transaction. The client first proves the share from the
   * seed. A repeated call returns the result again.
   *
   * @throws {TssError} VALIDATION when an argument is malformed, or names another project than the client's.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} DWALLET_NOT_ACTIVE when the dWallet is not Active.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
   * @throws {TssError} CUSTODY_MISMATCH when the Treasury does not hold the dWallet for the user.
   * @throws {TssError} DWALLET_TAKEN when another project or user has the dWallet.
   * @throws {TssError} DWALLET_NAME_TAKEN when another dWallet has the name.
   * @throws {TssError} DATABASE_BEHIND_CHAIN when the service has yet to restore its database; try again later.
   * @throws {TssError} WRONG_STATE while a dWallet of the same seed is being made; try again.
   *
   * @example
   * const { dwallets } = await client.findDWallets({ seed });
   * for (const { dwalletId, curve } of dwallets) await client.adoptDWallet({ seed, curve, dwalletId });
   */
  adoptDWallet(
    args: AdoptDWalletArgs,
    options?: ActionOptions<AdoptDWalletStage>,
  ): Promise<AdoptDWalletResult>;
  /**
   * Registers the key of a recipient, with whom the owner of a dWallet can then share it. It is free. Give the result to
   * the owner, over a channel that the service does not control.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the curve is unknown.
   *
   * @example
   * const recipient = await client.registerRecipient({ seed: bobsSeed, curve, userReference: "bob" });
   */
  registerRecipient(
    args: RegisterRecipientArgs,
    options?: ActionOptions<RegisterRecipientStage>,
  ): Promise<RecipientKey>;
  /**
   * Shares a dWallet with another user of the project, who can then accept the share and sign. It cannot be taken back:
   * `removeHolder` ends the recipient's use at this service alone. While the recipient has a share, a repeated
   * call returns it, and costs nothing.
   *
   * @throws {TssError} VALIDATION when an argument is malformed, or the dWallet has an imported key.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} RECIPIENT_MISMATCH when the chain has no such key of the recipient; share nothing.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
   * @throws {TssError} TOO_MANY_HOLDERS when the dWallet has 8 holders.
   * @throws {TssError} INSUFFICIENT_CREDIT when the project's credit is below the price.
   * @throws {TssError} NETWORK_REJECTED when the network refuses the share.
   *
   * @example
   * await client.shareWith({ seed, curve, dwalletId, recipient, userReference: "bob" });
   */
  shareWith(args: ShareWithArgs, options?: ActionOptions<ShareWithStage>): Promise<ShareWithResult>;
  /**
   * Accepts a share that the owner of a dWallet has sent to this seed's key. The client first proves that it leads to the
   * dWallet's public key. Sign with `acceptUnverifiedShare: true`, because the owner knows the share too.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} SHARE_UNVERIFIED when the chain shows no share of the dWallet for this seed.
   * @throws {TssError} SHARE_MISMATCH when the share does not lead to the dWallet's public key.
   *
   * @example
   * await client.acceptShare({ seed: bobsSeed, curve, dwalletId });
   * await client.sign({ seed: bobsSeed, acceptUnverifiedShare: true, curve, dwalletId, message, ...algorithm });
   */
  acceptShare(args: AcceptShareArgs, options?: ActionOptions<AcceptShareStage>): Promise<AcceptShareResult>;
  /**
   * Yields each state of a sign request once, until the request completes or fails. Intermediate states may be missing.
   * It does not verify the signature; `sign`, `resumeSign` and `resume` do.
   *
   * @throws {TssError} VALIDATION when the id is malformed.
   * @throws {TssError} SIGN_REQUEST_NOT_FOUND when the project has no such request.
   * @throws {TssError} TIMEOUT when the deadline passes.
   *
   * @example
   * for await (const { status } of client.watchSign({ signRequestId })) console.log(SignStatus[status]);
   */
  watchSign(
    args: WatchSignArgs,
    options?: Pick<ActionOptions, "signal" | "traceparent">,
  ): AsyncIterable<SignRequest>;
  /** The sessions of the project's users, for backends. */
  readonly sessions: SessionCalls;
  /** The events of the project, for backends. */
  readonly events: EventCalls;
  /** The generated clients, for calls that no action covers. They throw a ConnectError. */
  readonly raw: RawClients;
}

/**
 * Creates a client. It sends nothing before the first action.
 *
 * @throws {TssError} VALIDATION when an option is malformed.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey, network: "testnet" });
 *
 * @example
 * const session = async () => (await fetch("/session", { method: "POST" })).json();
 * const client = createClient({ baseUrl: "https://tss.example", session, network: "testnet" });
 */
export function createClient(options: ClientOptions): TssClient {
  const transport = authorizedTransport(options);
  const context = createContext(options, transport);
  return {
    ...createProjectCalls(transport, context.call),
    ...createCustodyActions(context),
    onboard: (args, actionOptions) => onboard(context, args, actionOptions),
    getOrCreate: (args, actionOptions) => getOrCreate(context, args, actionOptions),
    resumeOnboard: (args, actionOptions) => resumeOnboard(context, args, actionOptions),
    importKey: (args, actionOptions) => importKey(context, args, actionOptions),
    sign: (args, signOptions) => sign(context, args, signOptions),
    signMany: (items, manyOptions) => signMany(context, items, manyOptions),
    resume: (token, args, actionOptions) => resume(context, token, args, actionOptions),
    signLater: (args, signOptions) => signLater(context, args, signOptions),
    resumeSign: (args, actionOptions) => resumeSign(context, args, actionOptions),
    readKey: (args, actionOptions) => readKey(context, args, actionOptions),
    findDWallets: (args, actionOptions) => findDWallets(context, args, actionOptions),
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    adoptDWallet: (args, actionOptions) => adoptDWallet(context, args, actionOptions),
    registerRecipient: (args, actionOptions) => registerRecipient(context, args, actionOptions),
    shareWith: (args, actionOptions) => shareWith(context, args, actionOptions),
    acceptShare: (args, actionOptions) => acceptShare(context, args, actionOptions),
    watchSign: (args, watchOptions) => watchSign(context, args, watchOptions),
    sessions: createSessionCalls(transport, context.call),
    events: createEventCalls(transport, context.call),
    raw: context.raw,
  };
}
