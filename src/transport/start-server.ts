import { setMaxListeners } from "node:events";
import type { AddressInfo } from "node:net";
import type { Registry } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { boundErrors } from "./calls/bound-errors.ts";
import type { FinishedCall } from "./calls/call.ts";
import type { CallContext } from "./calls/call-context.ts";
import type { CallWrapper, ErrorMapping, RequestGate } from "./calls/call-parts.ts";
import { deadlineInterceptor } from "./calls/deadline.ts";
import { guardCalls, markHandling } from "./calls/guard-call.ts";
import { createJsonForm } from "./calls/message-codec.ts";
import type { ServiceRegistration } from "./calls/service-registration.ts";
import { TransportError } from "./calls/transport-error.ts";
import { createConnectHandler } from "./connect-handler.ts";
import { type Connections, createConnections } from "./connections/connections.ts";
import { cutConnections, type DrainOptions, drainConnections } from "./connections/drain.ts";
import type { HandshakeObserver, TlsOptions } from "./connections/split-connections.ts";
import { listenOnSocket } from "./connections/unix-socket.ts";
import { createGrpcTaker } from "./grpc/serve-grpc.ts";
import { createRequestHandler } from "./handle-request.ts";
import { type CorsOptions, createCors } from "./http/cors.ts";
import { createPlainRoutes, type PlainRoute, type RequestChecks } from "./http/plain-routes.ts";
import { DEFAULT_LIMITS, type Limits } from "./limits.ts";
import { addOwnServices, chooseGate, type OwnServiceOptions, ownSpecsOf } from "./own-services.ts";
import { createRestHandler } from "./rest/rest-handler.ts";

/**
 * Serves gRPC, gRPC-web, Connect and REST on one port or Unix socket.
 * @throws Error when an HTTP annotation does not fit its method, or the port or socket is not available
 */
export async function startServer(options: ServerOptions): Promise<TransportServer> {
  const shutdown = new AbortController();
  // Every running call listens to it.
  setMaxListeners(0, shutdown.signal);
  // Streams that do not end on their own listen to it.
  const closing = new AbortController();
  setMaxListeners(0, closing.signal);
  // Reads of incomplete bodies listen to it.
  const late = new AbortController();
  setMaxListeners(0, late.signal);
  let isDraining = false;
  const { services, health } = addOwnServices(options.services, options);
  const gate = chooseGate(services, options.gate, options.openGate);
  const live = new Set<CallContext>();
  const { takeStream, handle } = handlersOf(
    { ...options, services, gate },
    { shutdown: shutdown.signal, closing: closing.signal, late: late.signal },
    live,
    () => isDraining,
  );
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const { tls, isTrustedPeer, onConnectionRefused: onRefused, onHandshakeFailed, socketPath } = options;
  const isLocal = socketPath !== undefined;
  const connections = createConnections(handle, takeStream, {
    limits,
    tls,
    isTrustedPeer,
    onRefused,
    onHandshakeFailed,
    isLocal,
  });
  const abortCalls = () => {
    const reason = drainingError(options);
    shutdown.abort(reason);
    for (const context of live) context.abort(reason);
  };
  const port = socketPath === undefined ? await listen(connections, options) : 0;
  if (socketPath !== undefined)
    connections.server.once("close", await listenOnSocket(connections.server, socketPath));
  // A connection that cannot be accepted, for example for lack of file descriptors, must not crash the process.
  connections.server.on("error", options.onError ?? (() => {}));
  let drained: Promise<boolean> | undefined;
  return {
    url: socketPath === undefined ? urlOf(options, port) : `unix:${socketPath}`,
    port,
    get isDraining() {
      return isDraining;
    },
    drain(drainOptions) {
      isDraining = true;
      health.setServing(false);
      drained ??= drainConnections(connections, drainOptions, {
        onClosing() {
          health.endWatches();
          // The error is mapped and logged once for each stream that it ends.
          const reason = draining();
          closing.abort(reason);
          for (const context of live) context.close(reason);
        },
        onBodyGraceOver() {
          // No handler has seen these calls, so that their callers may repeat them.
          for (const context of live) if (!context.call.isHandling) context.abort(draining());
          if (!late.signal.aborted) late.abort(drainingError(options));
        },
        onTimeout: abortCalls,
      });
      return drained;
    },
    async close() {
      isDraining = true;
      abortCalls();
      const closed = new Promise<void>((resolve) => connections.server.close(() => resolve()));
      cutConnections(connections);
      await closed;
    },
  };
}

/** Options of {@link startServer}. */
export interface ServerOptions extends OwnServiceOptions, RequestChecks {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** A Unix socket to listen on instead of the host and the port. Only this process's user can connect to it. */
  readonly socketPath?: string | undefined;
  /** Created by `registerService`. */
  readonly services: readonly ServiceRegistration[];
  /** In order, the outermost first. Deadlines are enforced inside the last one. */
  readonly interceptors?: readonly Interceptor[];
  /** Runs for every call of every protocol before its body is read, except for public services. */
  readonly gate?: RequestGate;
  /** Runs instead of `gate` for public services. */
  readonly openGate?: RequestGate;
  /** Maps failures to the wire. Handlers' failures need its interceptor in {@link interceptors} too. */
  readonly errors: ErrorMapping;
  /** The types that a `google.protobuf.Any` may contain in JSON. Default: none. */
  readonly typeRegistry?: Registry;
  /** Limits that differ from {@link DEFAULT_LIMITS}. */
  readonly limits?: Partial<Limits>;
  /** Identifies proxies in front of the server, which are exempt from the limits per address. Default: none. */
  readonly isTrustedPeer?: (address: string) => boolean;
  /** Called when an address reaches the connection limit, and again only after its connections have all closed. */
  readonly onConnectionRefused?: (address: string) => void;
  /** Called for each TLS handshake that fails. Anyone who can connect can cause it, as often as connections allow. */
  readonly onHandshakeFailed?: HandshakeObserver;
  /** Default: no browser may call from another origin. */
  readonly cors?: CorsOptions;
  readonly routes?: readonly PlainRoute[];
  /**
   * The hint in errors for calls and routes that this server does not serve. Default: a statement that they do not
   * exist.
   */
  readonly elsewhere?: string;
  /** If set, the port accepts only TLS. Default: clear text. */
  readonly tls?: TlsOptions;
  /**
   * Whether gRPC's unary calls and server streams and Connect's unary calls use this transport's own path instead of
   * the RPC library. Default true.
   */
  readonly ownPath?: boolean;
  readonly aroundCall?: CallWrapper;
  readonly onCallEnd?: (call: FinishedCall) => void;
  /** Called with failures that no reply can report, such as a stream that breaks after its head. */
  readonly onError?: (error: unknown) => void;
}

/** A listening server. */
export interface TransportServer {
  /** `http://host:port`, or `https`, without a trailing slash; `unix:` and the path of a socket. */
  readonly url: string;
  /** 0 for a socket. */
  readonly port: number;
  readonly isDraining: boolean;
  /**
   * Stops gracefully. Later calls wait for the first.
   * @returns whether all calls ended before the time-out
   */
  drain(options: DrainOptions): Promise<boolean>;
  /** Cuts all connections and stops listening. */
  close(): Promise<void>;
}

function handlersOf(
  options: ServerOptions,
  signals: { readonly shutdown: AbortSignal; readonly closing: AbortSignal; readonly late: AbortSignal },
  live: Set<CallContext>,
  isDraining: () => boolean,
) {
  const { services, aroundCall, onCallEnd, onError = () => {} } = options;
  const errors = boundErrors(options.errors);
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  const shutdownSignal = signals.shutdown;
  const interceptors = [markHandling, ...(options.interceptors ?? []), deadlineInterceptor];
  const gate = guardCalls(errors, options.gate);
  const own = {
    gate: options.gate,
    interceptors: options.interceptors ?? [],
    errors,
    limits,
    jsonForm: createJsonForm(options.typeRegistry),
    live,
    onError,
  };
  const ownSpecs = ownSpecsOf(options.ownPath === false ? [] : services);
  const connect = { services, interceptors, gate, limits, shutdownSignal, late: signals.late, own, ownSpecs };
  return {
    takeStream: createGrpcTaker({
      specs: ownSpecs,
      parts: own,
      closing: signals.closing,
      onCallEnd,
      aroundCall,
    }),
    handle: createRequestHandler({
      cors: createCors(options.cors ?? { origins: [], requestHeaders: [], replyHeaders: [] }),
      plain: createPlainRoutes(options.routes ?? [], isDraining, limits, options),
      connect: createConnectHandler(connect),
      rest: createRestHandler({ services, parts: own }),
      errors,
      lingerMs: () =>
        isDraining() ? Math.min(limits.lingerTimeoutMs, DRAIN_LINGER_MS) : limits.lingerTimeoutMs,
      elsewhere: options.elsewhere,
      closing: signals.closing,
      aroundCall,
      onCallEnd,
      onError,
    }),
  };
}

/** The most that a caller without an end of its body may hold up a drain after its reply. */
const DRAIN_LINGER_MS = 250;

function draining(): TransportError {
  return new TransportError("DRAINING", "the server is stopping");
}

/** Creates the reason that handlers receive when the process cannot wait any longer. */
function drainingError(options: ServerOptions) {
  return options.errors.toConnectError(draining(), { requestId: "", method: "" });
}

function listen({ server }: Connections, { host, port }: ServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function urlOf({ tls, host }: ServerOptions, port: number): string {
  return `${tls === undefined ? "http" : "https"}://${urlHost(host)}:${port}`;
}

function urlHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  if (host === "::") return "[::1]";
  return host.includes(":") ? `[${host}]` : host;
}
