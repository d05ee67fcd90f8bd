import type { Transport } from "@connectrpc/connect";
import type { CryptoEngine } from "../crypto/engine.ts";
import { deferredParts } from "./actions/load-flows.ts";
import { createServiceCaller } from "./calls/service-calls.ts";
import { createDefaultTransport, withHeaders } from "./calls/transport.ts";
import { chooseChain } from "./chain/choose-chain.ts";
import { createNetworkSource, type IkaObjects } from "./chain/network.ts";
import { invalid } from "./checks.ts";
import { chooseEngine } from "./choose-engine.ts";
import { type ClientContext, createRawClients } from "./context.ts";
import type { Network } from "./names.ts";
import { createProvingFetch, type DeviceKey, openDeviceKey } from "./sessions/device-key.ts";
import { type SessionSource, withSession } from "./sessions/session.ts";

/** Options of `createClient`: exactly one of `apiKey` and `session`, and the rest. */
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

/** Returns a transport that adds the key or the session to each call. Throws VALIDATION unless there is exactly one. */
export function authorizedTransport(options: ClientOptions): Transport {
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

/** Creates what the actions of a client share. Throws VALIDATION if an option is malformed. */
export function createContext(options: ClientOptions, transport: Transport): ClientContext {
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
