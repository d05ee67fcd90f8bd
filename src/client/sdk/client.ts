import type { Transport } from "@connectrpc/connect";
import type { SignRequest } from "../../../gen/client/tss/v1/signing_pb.ts";
import type { CryptoEngine } from "../crypto/engine.ts";
import type { ActionOptions } from "./action.ts";
import { deferredParts } from "./actions/load-flows.ts";
import { type GetOrCreateArgs, getOrCreate, onboard, resumeOnboard } from "./actions/onboard.ts";
import type {
  OnboardArgs,
  OnboardResult,
  OnboardStage,
  ResumeOnboardArgs,
} from "./actions/onboard-within.ts";
import { readKey } from "./actions/read-key.ts";
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
import { type ResumeSignArgs, resumeSign, type SignOptions, sign } from "./actions/sign.ts";
import type { SignArgs } from "./actions/sign-args.ts";
import { type SignManyItem, type SignManyOptions, signMany } from "./actions/sign-many.ts";
import type { SignResult, SignStage } from "./actions/sign-within.ts";
import { type WatchSignArgs, watchSign } from "./actions/watch-sign.ts";
import { chooseChain } from "./chain/choose-chain.ts";
import { createNetworkSource, type IkaObjects } from "./chain/network.ts";
import { invalid } from "./checks.ts";
import { chooseEngine } from "./choose-engine.ts";
import { type ClientContext, createRawClients, type RawClients } from "./context.ts";
import { type CustodyActions, createCustodyActions } from "./custody/custody-actions.ts";
import { createEventCalls, type EventCalls } from "./event-calls.ts";
import type { Network } from "./names.ts";
import { createProjectCalls, type ProjectCalls } from "./project-calls.ts";
import { createServiceCaller } from "./service-calls.ts";
import { createProvingFetch, type DeviceKey, openDeviceKey } from "./sessions/device-key.ts";
import { type SessionSource, withSession } from "./sessions/session.ts";
import { createSessionCalls, type SessionCalls } from "./sessions/session-calls.ts";
import { createDefaultTransport, withHeaders } from "./transport.ts";

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
    sign: (args, signOptions) => sign(context, args, signOptions),
    signMany: (items, manyOptions) => signMany(context, items, manyOptions),
    resume: (token, args, actionOptions) => resume(context, token, args, actionOptions),
    resumeSign: (args, actionOptions) => resumeSign(context, args, actionOptions),
    readKey: (args, actionOptions) => readKey(context, args, actionOptions),
    findDWallets: (args, actionOptions) => findDWallets(context, args, actionOptions),
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    watchSign: (args, watchOptions) => watchSign(context, args, watchOptions),
    sessions: createSessionCalls(transport, context.call),
    events: createEventCalls(transport, context.call),
    raw: context.raw,
  };
}

/** Options of {@link createClient}: exactly one of `apiKey` and `session`, and the rest. */
export type ClientOptions = CommonOptions & (KeyOption | SessionOption);

/** A client with a project's key, for backends. */
export interface KeyOption {
  /** A key of the project, `tss_…`. The service refuses it in a web page: use `session` there. */
  readonly apiKey: string;
  readonly session?: undefined;
}

/** A client with the session of one user, for pages and apps. */
export interface SessionOption {
  /** Returns the token of a session, which the backend creates with `client.sessions.create`. */
  readonly session: SessionSource;
  readonly apiKey?: undefined;
  /**
   * The key of this device, with which the client proves each call of a session that is bound to it (`openDeviceKey` of
   * the entry `/device-key`); false for none. Default: a key in the browser's IndexedDB, and none where there is no
   * IndexedDB or with another `transport`, whose fetch must then be one of `createProvingFetch`.
   */
  readonly deviceKey?: DeviceKey | false | undefined;
}

/** The options of every client. */
export interface CommonOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  readonly network: Network;
  /** Another Connect transport. The client adds its headers to it. Default: Connect over fetch with binary messages. */
  readonly transport?: Transport | undefined;
  /**
   * How long an action repeats a call while a service that has answered this client cannot be reached, in milliseconds
   * from 0 to 600,000. Default 30,000. The action's own time limit also ends it. With 0, and for a service
   * that has not answered yet, the client tries five times in about 1.5 s.
   */
  readonly reconnectTimeoutMs?: number | undefined;
  /**
   * The engine that computes the user's half. Default: this package's TypeScript engine on the caller's thread, in slices
   * of about 20 ms. `createWorkerEngine` of the entry `/worker` computes on workers, and `createReferenceEngine` of the
   * entry `/reference` in Ika's WebAssembly. The caller closes an engine that it passes.
   */
  readonly engine?: CryptoEngine | undefined;
  /**
   * The fullnode that the client reads the chain from, or up to eight, which must all answer and agree. Default on
   * testnet and mainnet: Sui's public fullnode. Default on a localnet: the fullnode that the service names.
   */
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  /**
   * The digest of the chain's genesis checkpoint, in Base58. The client pins the digests of testnet and mainnet.
   * Default on a localnet: any digest.
   */
  readonly chainIdentifier?: string | undefined;
  /**
   * The object id of the Treasury that keeps the dWallets' capabilities. Set the one whose package you have checked.
   * Default: the one that the service names.
   */
  readonly treasuryId?: string | undefined;
  /**
   * The ids of Ika from which the client reads the chain. The client pins those of testnet and mainnet.
   * Default on a localnet: those that the service names.
   */
  readonly ika?: IkaObjects | undefined;
}

function authorizedTransport(options: ClientOptions): Transport {
  const { apiKey, session, network, baseUrl } = options;
  if ((apiKey === undefined) === (session === undefined))
    throw invalid("apiKey", "give either apiKey or session");
  if (session === undefined) {
    const transport = options.transport ?? createDefaultTransport(baseUrl);
    return withHeaders(transport, { authorization: `Bearer ${apiKey}`, "x-network": network });
  }
  const openDevice = deviceOf(options);
  const transport =
    options.transport ??
    createDefaultTransport(baseUrl, openDevice && ((send) => createProvingFetch(openDevice, send)));
  return withSession(withHeaders(transport, { "x-network": network }), session, openDevice);
}

/** Returns how to open the key of this device, once; undefined if the client proves no calls. */
function deviceOf({
  deviceKey,
  transport,
}: ClientOptions & SessionOption): (() => Promise<DeviceKey>) | undefined {
  if (deviceKey === false) return undefined;
  if (deviceKey !== undefined) return async () => deviceKey;
  if (transport !== undefined || globalThis.indexedDB === undefined) return undefined;
  let opened: Promise<DeviceKey> | undefined;
  return () => {
    opened ??= openDeviceKey();
    // The next call tries again.
    opened.catch(() => {
      opened = undefined;
    });
    return opened;
  };
}

function createContext(options: ClientOptions, transport: Transport): ClientContext {
  const { network, reconnectTimeoutMs } = options;
  if (reconnectTimeoutMs !== undefined) checkReconnectTimeout(reconnectTimeoutMs);
  const raw = createRawClients(transport);
  const call = createServiceCaller(reconnectTimeoutMs);
  const source = createNetworkSource({ raw, call }, network);
  const chosen = chooseChain(options);
  const engine = chooseEngine(options.engine);
  return {
    network,
    raw,
    call,
    engine,
    getNetwork: source.read,
    ...deferredParts({ chosen, source, engine }),
    activeDWallets: new Map(),
  };
}

function checkReconnectTimeout(timeoutMs: number): void {
  if (!(timeoutMs >= 0 && timeoutMs <= 600_000))
    throw invalid("reconnectTimeoutMs", "must be between 0 and 600000");
}
