import type { Transport } from "@connectrpc/connect";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import type { CryptoEngine } from "../crypto/engine.ts";
import { createInlineEngine } from "../crypto/inline-engine.ts";
import { createChainReader } from "../protocol/chain-reader.ts";
import type { Action, ActionOptions } from "./action.ts";
import { createChainParameters } from "./chain-parameters.ts";
import { type ClientContext, createRawClients, type RawClients } from "./context.ts";
import type { Network } from "./names.ts";
import { createNetworkSource } from "./network.ts";
import { onboard } from "./onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import type { ParametersCache } from "./parameters-cache.ts";
import {
  type RecoverShareArgs,
  type RecoverShareResult,
  type RecoverShareStage,
  recoverShare,
} from "./recover-share.ts";
import { type ResumeOnboardArgs, resumeOnboard } from "./resume-onboard.ts";
import { type ResumeSignArgs, resumeSign } from "./resume-sign.ts";
import { createServiceParameters, fetchOverRest, fetchOverRpc } from "./service-parameters.ts";
import { sign } from "./sign.ts";
import type { SignArgs, SignOptions, SignResult, SignStage } from "./sign-types.ts";
import { createDefaultTransport, withHeaders } from "./transport.ts";

/** How a client is made. */
export interface ClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** A project's key, `tss_…`. */
  readonly apiKey: string;
  readonly network: Network;
  /** Another Connect transport; default Connect over fetch with binary messages. Headers are added to it. */
  readonly transport?: Transport | undefined;
  /** Where the user's half is computed; default on this thread. The caller closes an engine that it passes. */
  readonly engine?: CryptoEngine | undefined;
  /** The fullnode to read the chain from; default the one that the service names. */
  readonly fullnodeUrl?: string | undefined;
  /**
   * Where protocol parameters come from. They decide what the user's share is encrypted under, so the default on
   * testnet and mainnet is `chain`; on a localnet it is `service`, which is faster.
   */
  readonly parameters?: "chain" | "service" | undefined;
  /** Keeps parameters from the service beyond this client. */
  readonly cache?: ParametersCache | undefined;
}

/** A client of one service, network and project. */
export interface TssClient {
  /** Makes a dWallet. */
  onboard(args: OnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /** Goes on with an onboarding that was interrupted. */
  resumeOnboard(args: ResumeOnboardArgs, options?: ActionOptions<OnboardStage>): Promise<OnboardResult>;
  /** Signs a message. */
  sign(args: SignArgs, options?: SignOptions): Promise<SignResult>;
  /** Follows a signature that was interrupted after it was submitted. */
  resumeSign(args: ResumeSignArgs, options?: ActionOptions<SignStage>): Promise<SignResult>;
  /** Recovers the user's share from the seed and the chain. */
  recoverShare(
    args: RecoverShareArgs,
    options?: ActionOptions<RecoverShareStage>,
  ): Promise<RecoverShareResult>;
  /** The generated clients. They throw ConnectError. */
  readonly raw: RawClients;
}

/** Makes a client. Nothing is sent before the first action. */
export function createClient(options: ClientOptions): TssClient {
  const context = createContext(options);
  return {
    onboard: (args, actionOptions) => onboard(context, args, actionOptions),
    resumeOnboard: (args, actionOptions) => resumeOnboard(context, args, actionOptions),
    sign: (args, signOptions) => sign(context, args, signOptions),
    resumeSign: (args, actionOptions) => resumeSign(context, args, actionOptions),
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    raw: context.raw,
  };
}

function createContext(options: ClientOptions): ClientContext {
  const { baseUrl, network } = options;
  const headers = { authorization: `Bearer ${options.apiKey}`, "x-network": network };
  const raw = createRawClients(withHeaders(options.transport ?? createDefaultTransport(baseUrl), headers));
  const source = createNetworkSource(raw.onboarding, network);
  let sui: SuiGrpcClient | undefined;
  const suiClient = async (action: Action): Promise<SuiGrpcClient> => {
    const url = options.fullnodeUrl ?? (await source.known(action)).fullnodeUrl;
    sui ??= new SuiGrpcClient({ network, baseUrl: url, format: "binary" });
    return sui;
  };
  const fromService = (options.parameters ?? (network === "localnet" ? "service" : "chain")) === "service";
  // A transport of the caller's may lead somewhere that no URL does, so its own stream is used then.
  const fetchParameters =
    options.transport === undefined
      ? fetchOverRest(baseUrl, { "x-network": network })
      : fetchOverRpc(raw.onboarding);
  return {
    network,
    raw,
    engine: options.engine ?? createInlineEngine(),
    parameters: fromService
      ? createServiceParameters(source, fetchParameters, options.cache)
      : createChainParameters(network, source, suiClient),
    getNetwork: source.read,
    chainReader: async (action) => createChainReader((await suiClient(action)).core),
    activeDWallets: new Map(),
  };
}
