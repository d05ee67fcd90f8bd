/**
 * One of the servers of `bench/transport.ts`, chosen by its argument. Each answers GetSign to one key, after the same
 * checks.
 */
import { createHash } from "node:crypto";
import { createServer as createHttp1 } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { create, fromBinary, toBinary, toJson } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";
import { type ConnectRouter, createContextValues } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData } from "@grpc/grpc-js";
import fastify from "fastify";
import {
  type GetSignRequest,
  GetSignRequestSchema,
  Signing,
  SignRequestSchema,
} from "../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../src/service/access/access-gate.ts";
import { createErrorInterceptor } from "../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../src/service/platform/errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../src/service/platform/errors/validate-interceptor.ts";
import { encodeSignRequest } from "../src/service/signing/encode-sign-request.ts";
import type { SignRequestRow } from "../src/service/signing/sign-request.ts";
import { registerService } from "../src/transport/calls/service-registration.ts";
import { startServer } from "../src/transport/start-server.ts";
import { API_KEY, PAGE, SESSION_TOKEN, SIGN_REQUEST_ID } from "./transport-call.ts";

const row: SignRequestRow = {
  id: SIGN_REQUEST_ID,
  projectId: SIGN_REQUEST_ID,
  status: "completed",
  curve: 2,
  signatureAlgorithm: 0,
  hashScheme: 0,
  message: Buffer.alloc(32, 1),
  priceMicroUsd: 10_000n,
  wasSubmitted: true,
  heldForUsers: [],
  txDigest: "8fmWUsWkqt6bcMX2vRTb1EfVfvC7MSa6pKpMFfYXXRJB",
  signSessionId: `0x${"cd".repeat(32)}`,
  signature: Buffer.alloc(64, 2),
  failureReason: null,
  failureMessage: null,
  refunded: false,
  expiresAt: new Date(1_800_000_000_000),
  isExpired: false,
  dwalletState: "Active",
  userReference: null,
  activeHolders: [],
  holdSeconds: null,
  holdState: null,
  holdPriceMicroUsd: 0n,
  holdExpiresAt: null,
  holdTxDigest: null,
  isUserFrozen: false,
  createdAt: new Date(1_790_000_000_000),
  updatedAt: new Date(1_790_000_001_000),
  dwalletId: `0x${"ab".repeat(32)}`,
  dwalletPublicOutput: Buffer.alloc(300),
  dwalletPublicKey: Buffer.alloc(32),
  presignId: `0x${"ef".repeat(32)}`,
  presign: Buffer.alloc(200),
};
const key = {
  id: SIGN_REQUEST_ID,
  projectId: SIGN_REQUEST_ID,
  network: "localnet",
  scopes: ["read" as const],
  expiresAt: null,
  leftMs: null,
  isRevoked: false,
  isExpired: false,
  allows: undefined,
  allowance: undefined,
  allowedOrigins: [PAGE],
};
const hashOf = (text: string) => createHash("sha256").update(text).digest("base64");
const keys = new Map([[hashOf(API_KEY), key]]);
const session = {
  ...{ ...key, expiresAt: new Date(4_000_000_000_000), leftMs: 1e9 },
  ...{
    userReference: "user-42",
    origins: [PAGE],
    proofKeyThumbprint: null,
    apiKeyId: null,
    identityProviderId: null,
  },
  allowance: {
    ...{ id: key.id, userReferences: ["user-42"], dwalletIds: undefined, algorithms: undefined },
    budget: undefined,
  },
};
const { allows: _allows, allowedOrigins: _allowedOrigins, ...knownSession } = session;
const sessions = new Map([[hashOf(SESSION_TOKEN), knownSession]]);
const gate = createAccessGate({
  sessionLookup: {
    find: async (text) => sessions.get(hashOf(text)),
    recall: (text) => sessions.get(hashOf(text)),
  },
  lookup: { find: async (text) => keys.get(hashOf(text)), recall: (text) => keys.get(hashOf(text)) },
  adminLookup: { find: async () => undefined },
  // The other servers have no rate limit either.
  limiter: { take: () => undefined, takeOfSessions: () => undefined },
  adminApiKey: undefined,
  networks: ["localnet"],
  beginTrace: () => ({ requestId: "", address: "" }),
});
const validator = createValidator();
const errors = createErrorMapping(() => {});
const interceptors = [createErrorInterceptor(errors), createWarmValidateInterceptor([Signing])];
const implementation = { getSign: async () => encodeSignRequest(row) };

/** The work that the other ways do by hand: the same gate over the raw headers, and the rules of the message. */
async function answer(authorization: string | undefined, request: GetSignRequest) {
  await gate({
    method: Signing.method.getSign,
    requestHeader: {
      get: (name: string) => (name === "authorization" ? authorization : undefined) ?? null,
    } as Headers,
    responseHeader: NO_HEADERS,
    values: createContextValues(),
  });
  if (validator.validate(GetSignRequestSchema, request).kind !== "valid") throw new Error("invalid");
  return implementation.getSign();
}
const NO_HEADERS = new Headers();

const SERVERS: Record<string, () => Promise<number>> = {
  async ours() {
    const services = [registerService(Signing, implementation)];
    return (await startServer({ host: "127.0.0.1", port: 0, services, interceptors, gate, errors })).port;
  },
  "connect-node": () => listen(createHttp2({}, connectNode())),
  "connect-node-h1": () => listen(createHttp1(connectNode())),
  "grpc-js": () =>
    new Promise((resolve, reject) => {
      const server = new Server();
      const definition = {
        getSign: {
          path: "/tss.v1.Signing/GetSign",
          requestStream: false,
          responseStream: false,
          requestSerialize: (message: GetSignRequest) => Buffer.from(toBinary(GetSignRequestSchema, message)),
          requestDeserialize: (bytes: Buffer) => fromBinary(GetSignRequestSchema, bytes),
          responseSerialize: (message: ReturnType<typeof encodeSignRequest>) =>
            Buffer.from(toBinary(SignRequestSchema, message)),
          responseDeserialize: (bytes: Buffer) => fromBinary(SignRequestSchema, bytes),
        },
      };
      server.addService(definition, {
        getSign(call: ServerUnaryCall<GetSignRequest, unknown>, callback: sendUnaryData<unknown>) {
          const replying = answer(String(call.metadata.get("authorization")[0]), call.request);
          void tell(replying, callback);
        },
      });
      server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
        error ? reject(error) : resolve(port),
      );
    }),
  async fastify() {
    const app = fastify();
    app.get("/v1/sign/:id", async (request) => {
      const { id } = request.params as { id: string };
      const message = create(GetSignRequestSchema, { signRequestId: id });
      return toJson(SignRequestSchema, await answer(request.headers.authorization, message), ALL_FIELDS);
    });
    await app.listen({ host: "127.0.0.1", port: 0 });
    return (app.server.address() as AddressInfo).port;
  },
  bare: () =>
    listen(
      createHttp1((request, reply) => {
        const message = create(GetSignRequestSchema, {
          signRequestId: request.url?.slice("/v1/sign/".length) ?? "",
        });
        void answer(request.headers.authorization, message).then((output) => {
          const body = Buffer.from(JSON.stringify(toJson(SignRequestSchema, output, ALL_FIELDS)));
          reply.writeHead(200, { "content-type": "application/json", "content-length": body.length });
          reply.end(body);
        });
      }),
    ),
};
const ALL_FIELDS = { alwaysEmitImplicit: true };

function connectNode() {
  const routes = (router: ConnectRouter) => router.service(Signing, implementation);
  const contextValues = createContextValues;
  return connectNodeAdapter({
    routes,
    contextValues,
    interceptors,
    requestGate: gate,
    jsonOptions: ALL_FIELDS,
  });
}

async function tell<T>(replying: Promise<T>, callback: sendUnaryData<T>): Promise<void> {
  try {
    callback(null, await replying);
  } catch (error) {
    callback(error as Error);
  }
}

function listen(server: ReturnType<typeof createHttp1> | ReturnType<typeof createHttp2>): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

process.on("message", () => process.send?.(process.cpuUsage()));
const make = SERVERS[process.argv[2] ?? ""];
if (make === undefined) throw new Error(`no server ${process.argv[2]}`);
process.send?.({ port: await make() });
