import type { SignRequest } from "../../gen/client/tss/v1/signing_pb.ts";
import type { ActionOptions } from "./action.ts";
import type { RawClients } from "./context.ts";
import type { CustodyActions } from "./custody-actions.ts";
import type { GetOrCreateArgs } from "./get-or-create.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import type { ProjectCalls } from "./project-calls.ts";
import type { ReadKeyArgs, ReadKeyResult, ReadKeyStage } from "./read-key.ts";
import type { RecoverShareArgs, RecoverShareResult, RecoverShareStage } from "./recover-share.ts";
import type { ResumeArgs, ResumeResult } from "./resume.ts";
import type { ResumeOnboardArgs } from "./resume-onboard.ts";
import type { ResumeSignArgs } from "./resume-sign.ts";
import type { SignManyItem, SignManyOptions } from "./sign-many.ts";
import type { SignArgs, SignOptions, SignResult, SignStage } from "./sign-types.ts";
import type { WatchSignArgs } from "./watch-sign.ts";

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
   * Returns the project's dWallet of a name, or makes it if there is none. Concurrent callers get the same dWallet, and
   * only one pays.
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
   *   ...{ seed, dwalletId, message },
   *   ...{ curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" },
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
   * compared.
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
   * Recovers the user's share from the seed and the chain.
   *
   * @throws {TssError} VALIDATION when an argument is malformed.
   * @throws {TssError} DWALLET_NOT_FOUND when the chain has no such dWallet.
   * @throws {TssError} DWALLET_NOT_ACTIVE when the dWallet is not Active.
   * @throws {TssError} UNSUPPORTED_ALGORITHM when the dWallet is on another curve.
   * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
   *
   * @example
   * const { userSecretKeyShareHex } = await client.recoverShare({ seed, dwalletId, curve: "ED25519" });
   */
  recoverShare(
    args: RecoverShareArgs,
    options?: ActionOptions<RecoverShareStage>,
  ): Promise<RecoverShareResult>;
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
  /** The generated clients, for calls that no action covers. They throw a ConnectError. */
  readonly raw: RawClients;
}
