import type { Transport } from "@connectrpc/connect";
import type { CryptoEngine } from "../crypto/engine.ts";
import { createInlineEngine } from "../crypto/inline-engine.ts";
import { invalid } from "./checks.ts";
import { chooseChain } from "./choose-chain.ts";
import { type ClientContext, createRawClients } from "./context.ts";
import { createCustodyActions } from "./custody-actions.ts";
import { deferredParts } from "./deferred-parts.ts";
import { TssError } from "./errors.ts";
import { getOrCreate } from "./get-or-create.ts";
import type { Network } from "./names.ts";
import { createNetworkSource } from "./network.ts";
import { onboard } from "./onboard.ts";
import { createProjectCalls } from "./project-calls.ts";
import { readKey } from "./read-key.ts";
import { recoverShare } from "./recover-share.ts";
import { resume } from "./resume.ts";
import { resumeOnboard } from "./resume-onboard.ts";
import { resumeSign } from "./resume-sign.ts";
import { createServiceCaller } from "./service-caller.ts";
import { sign } from "./sign.ts";
import { signMany } from "./sign-many.ts";
import { createDefaultTransport, withHeaders } from "./transport.ts";
import type { TssClient } from "./tss-client.ts";
import { watchSign } from "./watch-sign.ts";

/**
 * Creates a client. It sends nothing before the first action.
 *
 * @throws {TssError} VALIDATION when an option is malformed.
 *
 * @example
 * const client = createClient({ baseUrl: "http://127.0.0.1:3000", apiKey, network: "testnet" });
 */
export function createClient(options: ClientOptions): TssClient {
  const { apiKey, baseUrl, network } = options;
  const transport = withHeaders(options.transport ?? createDefaultTransport(baseUrl), {
    authorization: `Bearer ${apiKey}`,
    "x-network": network,
  });
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
    recoverShare: (args, actionOptions) => recoverShare(context, args, actionOptions),
    watchSign: (args, watchOptions) => watchSign(context, args, watchOptions),
    raw: context.raw,
  };
}

/** Options of {@link createClient}. */
export interface ClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** A key of the project, `tss_…`. */
  readonly apiKey: string;
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
}

function createContext(options: ClientOptions, transport: Transport): ClientContext {
  const { network, reconnectTimeoutMs } = options;
  if (reconnectTimeoutMs !== undefined) checkReconnectTimeout(reconnectTimeoutMs);
  const raw = createRawClients(transport);
  const call = createServiceCaller(reconnectTimeoutMs);
  const source = createNetworkSource({ raw, call }, network);
  const chosen = chooseChain(options);
  const engine = checkedEngine(options.engine) ?? createInlineEngine();
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

function checkedEngine(engine: CryptoEngine | undefined): CryptoEngine | undefined {
  if (engine === undefined || (typeof engine === "object" && engine !== null)) return engine;
  throw new TssError(
    "VALIDATION",
    "engine: must be an engine, such as createWorkerEngine() of the entry /worker",
  );
}
