import { createHash } from "node:crypto";
import type { HandlerContext, Interceptor, ServiceImpl } from "@connectrpc/connect";
import { createValidateInterceptor } from "@connectrpc/validate";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import { Onboarding } from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing, SignRequest_Status } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { createErrorInterceptor } from "../../../src/service/platform/errors/error-interceptor.ts";
import {
  createErrorMapping,
  type FailureRecord,
} from "../../../src/service/platform/errors/error-mapping.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import type { FinishedCall } from "../../../src/transport/calls/call.ts";
import { requestIdKey } from "../../../src/transport/calls/request-id.ts";
import {
  registerService,
  type ServiceRegistration,
} from "../../../src/transport/calls/service-registration.ts";
import type { TlsOptions } from "../../../src/transport/connections/split-connections.ts";
import type { PlainRoute } from "../../../src/transport/http/plain-routes.ts";
import type { Limits } from "../../../src/transport/limits.ts";
import {
  type ServerOptions,
  startServer,
  type TransportServer,
} from "../../../src/transport/start-server.ts";

/** A gate that the test opens. Handlers wait at it, and `entered` resolves when the first one does. */
export function createLatch() {
  let open: () => void = () => {};
  let enter: () => void = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const wait = () => {
    enter();
    return opened;
  };
  return { open, entered, wait };
}

export const UUID = "018f6b1c-7a1e-7bbb-8ccc-1234567890ab";
export const DWALLET_ID = `0x${"ab".repeat(32)}`;
export const PARAMETERS = Buffer.from(Array.from({ length: 600_000 }, (_, index) => index & 0xff));
export const PARAMETERS_SHA256 = createHash("sha256").update(PARAMETERS).digest("hex");
const CHUNK_BYTES = 256 * 1024;

/** Replacements for parts of the fakes. */
export interface Hooks {
  getSign?: ServiceImpl<typeof Signing>["getSign"];
  watchSign?: ServiceImpl<typeof Signing>["watchSign"];
  gate?: (context: HandlerContext) => void | Promise<void>;
  limits?: Partial<Limits>;
  corsOrigins?: readonly string[];
  gateAllowsMore?: boolean;
  tls?: TlsOptions;
  ownPath?: boolean;
  interceptors?: readonly Interceptor[];
  grpcHealth?: boolean;
  /** Routes in addition to the health route. */
  routes?: readonly PlainRoute[];
  isTrustedPeer?: (address: string) => boolean;
  grpcReflection?: boolean;
  /** Services in addition to the fakes. */
  services?: readonly ServiceRegistration[];
}

export interface FakeServer extends TransportServer {
  readonly failures: FailureRecord[];
  readonly calls: FinishedCall[];
  readonly errors: unknown[];
  /** The addresses that reached the limit of connections. */
  readonly refused: string[];
  /** The arguments of the handlers, newest last. */
  readonly seen: { name: string; message: unknown; requestId: string }[];
}

/** Serves the project's own services with fake implementations on a free port. */
export async function startFakes(hooks: Hooks = {}): Promise<FakeServer> {
  const failures: FailureRecord[] = [];
  const calls: FinishedCall[] = [];
  const unexpected: unknown[] = [];
  const seen: FakeServer["seen"] = [];
  const refused: string[] = [];
  const note = (name: string, message: unknown, context: HandlerContext) =>
    seen.push({ name, message, requestId: context.values.get(requestIdKey) });
  const errors = createErrorMapping((failure) => failures.push(failure));
  const options: ServerOptions = {
    host: "127.0.0.1",
    port: 0,
    services: [
      registerService(Onboarding, onboarding(note)),
      registerService(Signing, signing(note, hooks)),
      registerService(Admin, admin(note)),
      ...(hooks.services ?? []),
    ],
    interceptors: [
      createErrorInterceptor(errors),
      ...(hooks.interceptors ?? []),
      createValidateInterceptor(),
    ],
    errors,
    grpcHealth: hooks.grpcHealth ?? true,
    grpcReflection: hooks.grpcReflection ?? true,
    ...(hooks.gate === undefined ? {} : { gate: hooks.gate }),
    ...(hooks.limits === undefined ? {} : { limits: hooks.limits }),
    ...(hooks.ownPath === undefined ? {} : { ownPath: hooks.ownPath }),
    ...(hooks.isTrustedPeer === undefined ? {} : { isTrustedPeer: hooks.isTrustedPeer }),
    onConnectionRefused: (address) => refused.push(address),
    ...(hooks.tls === undefined ? {} : { tls: hooks.tls }),
    cors: {
      origins: hooks.corsOrigins ?? ["*"],
      gateAllowsMore: hooks.gateAllowsMore ?? false,
      requestHeaders: ["authorization", "x-api-key", "x-network", "idempotency-key"],
      replyHeaders: ["retry-after", "x-request-id", "etag"],
    },
    routes: [
      {
        path: "/v1/health",
        handle: ({ isDraining }) => ({
          status: isDraining ? 503 : 200,
          headers: { "content-type": "application/json" },
          body: '{"status":"ok"}',
        }),
      },
      ...(hooks.routes ?? []),
    ],
    onCallEnd: (call) => calls.push(call),
    onError: (error) => unexpected.push(error),
  };
  const server = await startServer(options);
  return Object.assign(server, { failures, calls, errors: unexpected, seen, refused });
}

type Note = (name: string, message: unknown, context: HandlerContext) => void;

function onboarding(note: Note): Partial<ServiceImpl<typeof Onboarding>> {
  return {
    getNetwork(request, context) {
      note("getNetwork", request, context);
      context.responseHeader.set("vary", "x-network");
      return { network: "localnet", networkEncryptionKeyEpoch: 7n };
    },
    async *getProtocolParameters(request, context) {
      note("getProtocolParameters", request, context);
      if (request.sha256 !== PARAMETERS_SHA256) {
        throw new ServiceError("PARAMETERS_NOT_FOUND", "no such parameters");
      }
      const from = Number(request.offset);
      context.responseHeader.set("etag", `"${request.sha256}"`);
      context.responseHeader.set("cache-control", "public, immutable, max-age=31536000");
      context.responseHeader.set("content-length", String(PARAMETERS.length - from));
      for (let at = from; at < PARAMETERS.length; at += CHUNK_BYTES) {
        const data = PARAMETERS.subarray(at, at + CHUNK_BYTES);
        yield { contentType: at === from ? "application/octet-stream" : "", data };
      }
    },
    acceptDWallet(request, context) {
      note("acceptDWallet", request, context);
      return { dwalletId: request.dwalletId };
    },
    getDWallet(request, context) {
      note("getDWallet", request, context);
      throw new ServiceError("DWALLET_NOT_FOUND", "the project has no such dWallet", {
        metadata: { dwalletId: request.dwalletId },
        detail: "row missing",
      });
    },
  };
}

function signing(note: Note, hooks: Hooks): Partial<ServiceImpl<typeof Signing>> {
  return {
    reserveSign(request, context) {
      note("reserveSign", request, context);
      throw new ServiceError("PRESIGN_POOL_EMPTY", "no presign is ready");
    },
    submitSign(request, context) {
      note("submitSign", request, context);
      return { signRequestId: request.signRequestId, message: request.userSignMessage };
    },
    /** Behaves as the cursor asks. */
    async *watchSign(request, context) {
      note("watchSign", request, context);
      if (hooks.watchSign !== undefined) return yield* hooks.watchSign(request, context);
      if (request.cursor === "none") return;
      context.responseHeader.set("x-set", request.signRequestId.length.toString());
      yield { cursor: "first" };
      if (request.cursor === "large") yield { cursor: "large".repeat(1000) };
      context.responseTrailer.set("x-set-after", "late");
      if (request.cursor === "break")
        throw new ServiceError("WRONG_STATE", "no more", { metadata: { a: "b" } });
      if (request.cursor === "fail") throw new TypeError("secret internals");
      yield { cursor: "last" };
    },
    async getSign(request, context) {
      note("getSign", request, context);
      if (hooks.getSign !== undefined) return await hooks.getSign(request, context);
      return { signRequestId: request.signRequestId, status: SignRequest_Status.queued, priceMicroUsd: 5n };
    },
  };
}

function admin(note: Note): Partial<ServiceImpl<typeof Admin>> {
  return {
    getPresignHealth(request, context) {
      note("getPresignHealth", request, context);
      return { buckets: [{ curve: request.curve ?? 99 }] };
    },
    refillPresigns(request, context) {
      note("refillPresigns", request, context);
      throw new TypeError("secret internals");
    },
  };
}
