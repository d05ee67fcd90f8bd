import { Signer } from "../../gen/proto/tss/signer/v1/signer_pb.ts";
import { createClient, type Network } from "../client/sdk/index.ts";
import { createWorkerEngine } from "../client/sdk/worker.ts";
import { createErrorInterceptor } from "../service/platform/errors/error-interceptor.ts";
import { createWarmValidateInterceptor } from "../service/platform/errors/validate-interceptor.ts";
import type { Lifecycle } from "../service/platform/lifecycle/lifecycle.ts";
import { listening } from "../service/platform/lifecycle/listening.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import { createMetrics, type Metrics } from "../service/platform/telemetry/metrics.ts";
import { observeCalls } from "../service/platform/telemetry/observe-calls.ts";
import { createRedact, type Redact } from "../service/platform/telemetry/redact.ts";
import type { Secret } from "../service/platform/telemetry/secret.ts";
import { openApiRoute } from "../service/web/web-routes.ts";
import type { HandshakeObserver, TlsOptions } from "../transport/connections/split-connections.ts";
import { certificateKey } from "../transport/http/node-http.ts";
import type { PlainRoute } from "../transport/http/plain-routes.ts";
import { type ServerOptions, startServer } from "../transport/start-server.ts";
import type { ArrivingCall, Callers } from "./access/callers.ts";
import { createSlidingBound } from "./access/sliding-bound.ts";
import type { EthereumCalls } from "./ethereum/ethereum-calls.ts";
import { openEthereumNode } from "./ethereum/ethereum-node.ts";
import { serveEthereumSocket } from "./ethereum/serve-socket.ts";
import { startExitDrill } from "./exit-drill.ts";
import { createKeys, type Keys } from "./keys.ts";
import { mapSignerErrors } from "./map-errors.ts";
import { callerKey, signerService } from "./serve-calls.ts";
import { createSigning, type Signing } from "./signing.ts";
import type { KeyStore } from "./store/key-store.ts";
import type { SeedSource } from "./store/seed-source.ts";

/**
 * Starts a signer on its Unix socket, its port, or both. It closes the store when the lifecycle stops. Returns the
 * addresses that it listens on.
 */
export async function startSigner(options: SignerOptions): Promise<readonly string[]> {
  const { store, service, callers, socketPath, port, log, lifecycle } = options;
  const callerNames = () => callers.names();
  lifecycle.onStop("store", () => store.close());
  const secrets = [service.apiKey, options.token, options.ethereum?.url].filter((one) => one !== undefined);
  const redact = createRedact(secrets);
  const engine = createWorkerEngine();
  lifecycle.onStop("engine", () => engine.close());
  const client = createClient({ ...service, apiKey: service.apiKey.reveal(), engine });
  const keys = createKeys({
    store,
    client,
    log,
    seeds: options.seeds,
    callerNames,
    maxCount: options.maxKeysCount,
  });
  // Callers of CreateKey need not wait for a network: they repeat the call after the restart.
  lifecycle.onStopping(() => void keys.stop());
  lifecycle.onStop("onboardings", () => keys.stop());
  const metrics = createMetrics();
  lifecycle.onStop("metrics", () => metrics.close());
  const ended = metrics.counter("signer_signatures_total", "Ended signatures by outcome.", ["outcome"]);
  metrics.gauge("signer_keys", "Keys in the store.", [], (gauge) => gauge.set(store.list().length));
  if (options.exitDrillMs) {
    const drill = { everyMs: options.exitDrillMs, isReported: options.isExitDrillReported };
    startExitDrill({ list: keys.list, client, log, metrics, ...drill }, lifecycle);
  }
  const signing = createSigning({
    keys,
    client,
    log,
    redact,
    count: (outcome) => ended.inc({ outcome }),
    callerNames,
    maxCount: options.maxSignsCount,
  });
  const ethereum =
    options.ethereum && (await openEthereum(options.ethereum, { keys, signing, redact, callerNames }));
  const errors = mapSignerErrors(log, redact);
  const common = {
    services: [signerService(keys, signing, ethereum)],
    interceptors: [createErrorInterceptor(errors), createWarmValidateInterceptor([Signer])],
    errors,
    limits: LIMITS,
    onCallEnd: observeCalls({ logger: log, metrics }),
    onError: (cause: unknown) => log.error({ cause }, "could not write a reply"),
  };
  const addresses: string[] = [];
  const start = async (name: string, begin: () => ReturnType<typeof startServer>) => {
    const drain = { delayMs: 0, timeoutMs: DRAIN_TIMEOUT_MS };
    const stopTimeoutMs = DRAIN_TIMEOUT_MS + 5_000;
    const { url } = await lifecycle.start(name, begin, (running) => running.drain(drain), stopTimeoutMs);
    addresses.push(url);
    log.info({ url }, "listening");
  };
  if (socketPath !== undefined) {
    const routes = routesOf(metrics, options.isSocketGuarded ?? false);
    const server = { ...common, ...checksOf(callers, true), host: "localhost", port: 0, socketPath, routes };
    await start("socket", () => startServer(server));
  }
  if (port !== undefined) {
    const server = {
      ...common,
      host: port.host,
      port: port.port,
      ...(port.tls && { tls: port.tls, onHandshakeFailed: handshakeObserver(log, metrics) }),
      ...checksOf(callers, false),
      routes: routesOf(metrics, true),
    };
    await start("port", () => listening("SIGNER_PORT", port.port, () => startServer(server)));
  }
  const ethereumSocket = options.ethereum?.socketPath;
  if (ethereum !== undefined && ethereumSocket !== undefined) {
    const { url } = await lifecycle.start(
      "ethereum socket",
      () => serveEthereumSocket(ethereumSocket, ethereum, () => callers.identify(ON_SOCKET)),
      (socket) => socket.close(DRAIN_TIMEOUT_MS),
      DRAIN_TIMEOUT_MS + 5_000,
    );
    addresses.push(url);
    log.info({ url }, "listening");
  }
  return addresses;
}

/** Counts failed handshakes, and logs so many that a peer who only connects cannot fill the disk. */
function handshakeObserver(log: Log, metrics: Metrics): HandshakeObserver {
  const total = metrics.counter("signer_failed_handshakes_total", "TLS handshakes that failed.");
  const lines = createSlidingBound(60_000, () => performance.now());
  return (address, code) => {
    total.inc();
    if (lines.take(HANDSHAKE_LINES_PER_MINUTE) === undefined)
      log.warn({ audit: "refused", address, outcome: code }, "a TLS handshake failed");
  };
}

const HANDSHAKE_LINES_PER_MINUTE = 30;

/** Options of {@link startSigner}. */
export interface SignerOptions {
  readonly store: KeyStore;
  /** Makes the seeds of new keys. Default: at random. */
  readonly seeds?: SeedSource | undefined;
  /** The service, and which chain to trust, as in the SDK's `createClient`. */
  readonly service: {
    readonly baseUrl: string;
    readonly apiKey: Secret;
    readonly network: Network;
    readonly fullnodeUrl?: readonly string[] | undefined;
    readonly treasuryId?: string | undefined;
  };
  /** Recognizes the callers. */
  readonly callers: Callers;
  /** The token of all callers, which no text may show. Undefined if there is none. */
  readonly token?: Secret | undefined;
  /** True if the metrics on the socket are for known callers alone. Default false. */
  readonly isSocketGuarded?: boolean | undefined;
  /** The Unix socket. Only the user of this process can connect to it. */
  readonly socketPath: string | undefined;
  /** The TCP port, which needs TLS unless the host is a loopback address. */
  readonly port:
    | {
        readonly host: string;
        /** 0 picks a free port. */
        readonly port: number;
        readonly tls: TlsOptions | undefined;
      }
    | undefined;
  /** Ethereum's JSON-RPC. Undefined for none. */
  readonly ethereum?:
    | {
        readonly chainId: number;
        /** A node that answers other methods and fills transactions. Undefined for none. */
        readonly url: Secret | undefined;
        readonly maxFeeWei: bigint;
        /** A socket for JSON-RPC without HTTP, which needs no token. Undefined for none. */
        readonly socketPath?: string | undefined;
      }
    | undefined;
  /** The time between two rehearsals of the exit of a key. Default: none. */
  readonly exitDrillMs?: number | undefined;
  /** Whether the service is told of each rehearsal. Default true. */
  readonly isExitDrillReported?: boolean | undefined;
  readonly log: Log;
  readonly lifecycle: Lifecycle;
  /** Default 10,000. */
  readonly maxKeysCount?: number | undefined;
  /** The maximum number of signatures at a time. Default 64. */
  readonly maxSignsCount?: number | undefined;
}

/** What a socket without HTTP shows of its callers. */
const ON_SOCKET: ArrivingCall = { headers: new Headers(), certificate: undefined, isOnSocket: true };
/** A key or a signature takes longer than the calls for which the transport's defaults are made. */
const LIMITS = { defaultDeadlineMs: 180_000, maxDeadlineMs: 600_000, connectionsPerAddressCount: 1_000 };
/** The time for calls in flight when the signer stops. */
const DRAIN_TIMEOUT_MS = 30_000;

/** The checks of one server: each call gets its caller before its body is read. */
function checksOf(callers: Callers, isOnSocket: boolean): Pick<ServerOptions, "gate" | "guardRequest"> {
  const identify = (call: Omit<ArrivingCall, "isOnSocket">) => callers.identify({ ...call, isOnSocket });
  return {
    gate({ requestHeader, values }) {
      const certificate = values.get(certificateKey);
      values.set(callerKey, identify({ headers: requestHeader, certificate }));
    },
    async guardRequest({ headers, certificate }) {
      identify({ headers, certificate });
    },
  };
}

/** viem is an optional package, and loaded only here. */
async function openEthereum(
  { chainId, url, maxFeeWei }: NonNullable<SignerOptions["ethereum"]>,
  parts: {
    readonly keys: Keys;
    readonly signing: Signing;
    readonly redact: Redact;
    readonly callerNames: () => readonly string[];
  },
): Promise<EthereumCalls> {
  const load = () => import("./ethereum/ethereum-calls.ts");
  const { createEthereumCalls } = await load().catch((cause: unknown) => {
    throw new Error("Ethereum's JSON-RPC needs the package viem: install it", { cause });
  });
  const node = url && openEthereumNode(url);
  return createEthereumCalls({ ...parts, chainId, node, maxFeeWei });
}

/** The path is the same relative to the sources and to the compiled files. */
const DOCUMENT = new URL("../../gen/signer-openapi.json", import.meta.url);

/**
 * The routes beside the contract: `GET /v1/signer/health` for a liveness probe, `GET /openapi.json` for generators of
 * clients, and `GET /metrics`.
 */
function routesOf(metrics: Metrics, isGuarded: boolean): PlainRoute[] {
  return [
    openApiRoute(DOCUMENT),
    {
      path: "/v1/signer/health",
      handle: ({ isDraining }) => ({
        status: 200,
        headers: { "content-type": "application/json", "cache-control": "no-store" },
        body: JSON.stringify({ status: isDraining ? "draining" : "ok" }),
      }),
    },
    {
      path: "/metrics",
      isGuarded,
      async handle({ headers }) {
        const { contentType, body } = await metrics.render(headers.accept);
        return { status: 200, headers: { "content-type": contentType, "cache-control": "no-store" }, body };
      },
    },
  ];
}
