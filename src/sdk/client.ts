import type { Transport } from "@connectrpc/connect";
import type { SignRequest } from "../../gen/proto/tss/v1/signing_pb.ts";
import type { CryptoEngine } from "../crypto/engine.ts";
import type { ActionOptions } from "./action.ts";
import { createChainParameters } from "./chain-parameters.ts";
import { createChainSessionSource } from "./chain-session.ts";
import { chooseChain } from "./choose-chain.ts";
import { chooseEngine } from "./choose-engine.ts";
import { type ClientContext, createRawClients, type RawClients } from "./context.ts";
import { type GetOrCreateArgs, getOrCreate } from "./get-or-create.ts";
import { createMadeHalves } from "./made-halves.ts";
import type { Network } from "./names.ts";
import { createNetworkSource } from "./network.ts";
import { onboard } from "./onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { createProjectCalls, type ProjectCalls } from "./project-calls.ts";
import { type ReadKeyArgs, type ReadKeyResult, type ReadKeyStage, readKey } from "./read-key.ts";
import {
  type RecoverShareArgs,
  type RecoverShareResult,
  type RecoverShareStage,
  recoverShare,
} from "./recover-share.ts";
import { type ResumeArgs, type ResumeResult, resume } from "./resume.ts";
import { type ResumeOnboardArgs, resumeOnboard } from "./resume-onboard.ts";
import { type ResumeSignArgs, resumeSign } from "./resume-sign.ts";
import { sign } from "./sign.ts";
import { type SignManyItem, type SignManyOptions, signMany } from "./sign-many.ts";
import type { SignArgs, SignOptions, SignResult, SignStage } from "./sign-types.ts";
import { createDefaultTransport, withHeaders } from "./transport.ts";
import { createTrustedChain } from "./trusted-chain.ts";
import { type WatchSignArgs, watchSign } from "./watch-sign.ts";

/** How a client is made. */
export interface ClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** A project's key, `tss_…`. */
  readonly apiKey: string;
  readonly network: Network;
  /** Another Connect transport; default Connect over fetch with binary messages. Headers are added to it. */
  readonly transport?: Transport | undefined;
  /**
   * What computes the user's half; default this package's own TypeScript, on workers that all clients of the program
   * share. `reference` leaves it to Ika's WebAssembly, which takes about ten seconds for an ECDSA half and blocks the
   * thread. The caller closes an engine that it passes.
   */
  readonly engine?: CryptoEngine | "reference" | undefined;
  /**
   * The fullnode to read the chain from, or up to eight of them, which all must answer, and alike. Default on testnet and
   * mainnet: Sui's public one; on a localnet: the one that the service names. The service has no say elsewhere.
   */
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  /**
   * The digest of the chain's genesis checkpoint, in Base58. That of testnet and mainnet is known to the client and cannot
   * be changed; on a localnet the default is any.
   */
  readonly chainIdentifier?: string | undefined;
}

/** A client of one service, network and project. */
export interface TssClient extends ProjectCalls {
  /** Makes a dWallet. */
  onboard(args: OnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /** The project's dWallet of a name, which is made where there is none. */
  getOrCreate(args: GetOrCreateArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /** Goes on with an onboarding that was interrupted. */
  resumeOnboard(args: ResumeOnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /** Signs a message. */
  sign(args: SignArgs, options?: SignOptions): Promise<SignResult>;
  /** Signs several messages, some at a time. */
  signMany(
    items: readonly SignManyItem[],
    options?: SignManyOptions,
  ): Promise<PromiseSettledResult<SignResult>[]>;
  /** Goes on with any interrupted action from an error's `resumeToken`. */
  resume(
    token: string,
    args?: ResumeArgs,
    options?: ActionOptions<OnboardStage | SignStage>,
  ): Promise<ResumeResult>;
  /** Follows a signature that was interrupted after it was submitted. */
  resumeSign(args: ResumeSignArgs, options?: ActionOptions<SignStage>): Promise<SignResult>;
  /** Reads a dWallet's public key and addresses from the chain. */
  readKey(args: ReadKeyArgs, options?: ActionOptions<ReadKeyStage>): Promise<ReadKeyResult>;
  /** Recovers the user's share from the seed and the chain. */
  recoverShare(
    args: RecoverShareArgs,
    options?: ActionOptions<RecoverShareStage>,
  ): Promise<RecoverShareResult>;
  /** Follows a sign request's states, without verifying what comes. */
  watchSign(
    args: WatchSignArgs,
    options?: Pick<ActionOptions, "signal" | "traceparent">,
  ): AsyncIterable<SignRequest>;
  /** The generated clients. They throw ConnectError. */
  readonly raw: RawClients;
}

/** Makes a client. Nothing is sent before the first action. Throws a TssError, VALIDATION, for a malformed option. */
export function createClient(options: ClientOptions): TssClient {
  const { apiKey, baseUrl, network } = options;
  const transport = withHeaders(options.transport ?? createDefaultTransport(baseUrl), {
    authorization: `Bearer ${apiKey}`,
    "x-network": network,
  });
  const context = createContext(options, transport);
  return {
    ...createProjectCalls(transport),
    onboard: (args, actionOptions) => onboard(context, args, actionOptions),
    getOrCreate: (args, actionOptions) => getOrCreate(context, args, actionOptions),
    resumeOnboard: (args, actionOptions) => resumeOnboard(context, args, actionOptions),
    sign: (args, signOptions) => sign(context, args, signOptions),
    signMany: (items, manyOptions) => signMany(context, items, manyOptions),
    resume: (token, args, actionOptions) => resume(context, token, args, actionOptions),
    resumeSign: (args, actionOptions) => resumeSign(context, args, actionOptions),
    readKey: (args, actionOptions) => readKey(context, args, actionOptions),
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    watchSign: (args, watchOptions) => watchSign(context, args, watchOptions),
    raw: context.raw,
  };
}

function createContext(options: ClientOptions, transport: Transport): ClientContext {
  const { network } = options;
  const raw = createRawClients(transport);
  const source = createNetworkSource(raw.onboarding, network);
  const chosen = chooseChain(options, source);
  const chain = createTrustedChain(chosen);
  const engine = chooseEngine(options.engine);
  return {
    network,
    raw,
    engine,
    parameters: createChainParameters(chain, engine),
    getNetwork: source.read,
    chainReader: chain.reader,
    chainSession: createChainSessionSource(chosen.hintClient),
    madeHalves: createMadeHalves(),
    activeDWallets: new Map(),
  };
}
