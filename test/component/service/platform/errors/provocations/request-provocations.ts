import { Health } from "../../../../../../gen/proto/grpc/health/v1/health_pb.ts";
import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../../../../gen/proto/tss/v1/signing_pb.ts";
import { objectId } from "../../../../../support/database/rows.ts";
import type { ErrorStack } from "../error-stack.ts";
import { createGrpcClient, grpcFrame, grpcPathOf } from "../grpc-client.ts";
import { type RestRequest, sendRest } from "../rest-client.ts";
import type { WireReply } from "../wire-reply.ts";
import type { Provocation } from "./provocation.ts";

const { reserveSign, getSign, watchSign, listSigns } = Signing.method;
const { getNetwork, getProtocolParameters } = Onboarding.method;

const sign = () => ({
  dwalletId: objectId(),
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "SHA256",
  message: "AQ==",
});

/** A project's call. */
function byProject(
  call: Omit<Parameters<Parameters<Provocation["provoke"]>[1]["call"]>[0], "key">,
): Provocation["provoke"] {
  return async (stack, protocolClient) =>
    protocolClient.call({ ...call, key: (await stack.newProject()).key });
}

/** A request that no client of the contract would send. */
async function rawRest(stack: ErrorStack, request: RestRequest): Promise<WireReply> {
  const authorization = `Bearer ${(await stack.newProject()).key}`;
  return sendRest(stack.url, { ...request, headers: { authorization, ...request.headers } });
}

async function rawGrpc(
  stack: ErrorStack,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array,
): Promise<WireReply> {
  const protocolClient = createGrpcClient(stack.url);
  const authorization = `Bearer ${(await stack.newProject()).key}`;
  return protocolClient
    .send({ path, headers: { authorization, ...headers }, body })
    .finally(protocolClient.close);
}

const rest = (because: string) => ({ protocolClient: "rest", because }) as const;
const grpc = (because: string) => ({ protocolClient: "grpc", because }) as const;

/** Refusals of malformed requests, whatever their method. */
export const REQUEST_PROVOCATIONS = {
  VALIDATION: [
    {
      how: "a field that breaks its rule",
      provoke: byProject({ method: getSign, request: { signRequestId: "42" } }),
      fields: ["sign_request_id"],
    },
    {
      how: "several fields that break their rules",
      provoke: byProject({
        method: reserveSign,
        request: { ...sign(), dwalletId: "0xAB", hashScheme: 0, message: "" },
      }),
      fields: ["dwallet_id", "hash_scheme", "message"],
    },
    {
      how: "a page token of another list",
      provoke: byProject({ method: listSigns, request: { pageToken: "AAAA" } }),
      fields: ["page_token"],
    },
    {
      how: "a cursor of no watch",
      provoke: byProject({
        method: watchSign,
        request: { signRequestId: "0190b6a4-7e1c-7c3a-8a55-3f2b1c0d9e8f", cursor: "AAAA" },
      }),
      fields: ["cursor"],
    },
    {
      how: "an idempotency key of 256 characters",
      provoke: byProject({
        method: reserveSign,
        request: sign(),
        headers: { "idempotency-key": "k".repeat(256) },
      }),
      fields: ["idempotency-key"],
    },
    {
      how: "a value of another type than its field's",
      only: rest("protobuf's binary form has no other type for the field"),
      provoke: (stack) =>
        rawRest(stack, {
          verb: "POST",
          path: "/v1/sign",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...sign(), message: 7 }),
        }),
      fields: ["message"],
    },
    {
      how: "bytes that are no message",
      only: grpc("over REST a body that is no JSON is the same refusal"),
      provoke: (stack) => rawGrpc(stack, grpcPathOf(reserveSign), {}, grpcFrame(Uint8Array.of(0x0a, 0x42))),
    },
  ],
  BODY_TOO_LARGE: [
    {
      how: "a message of 300 KiB",
      provoke: byProject({ method: reserveSign, request: { ...sign(), message: "A".repeat(400 * 1024) } }),
    },
  ],
  MALFORMED_FRAME: [
    {
      how: "a message that is compressed with nothing that is named",
      only: grpc("REST does not frame its messages"),
      provoke: (stack) => rawGrpc(stack, grpcPathOf(getNetwork), {}, Buffer.from([1, 0, 0, 0, 0])),
    },
  ],
  PARAMETERS_NOT_FOUND: [
    {
      how: "a digest of no parameters",
      provoke: (_stack, protocolClient) =>
        protocolClient.call({ method: getProtocolParameters, request: { sha256: "0".repeat(64) } }),
      metadata: { sha256: "0".repeat(64) },
    },
  ],
  ROUTE_NOT_FOUND: [
    {
      how: "a path of no route",
      only: rest("gRPC calls an unknown method UNIMPLEMENTED"),
      provoke: (stack) => rawRest(stack, { verb: "GET", path: "/v1/nothing" }),
    },
    {
      how: "the health of a service that is none",
      only: grpc("grpc.health.v1 has no REST routes"),
      provoke: (_stack, protocolClient) =>
        protocolClient.call({ method: Health.method.check, request: { service: "nothing" } }),
    },
  ],
  METHOD_NOT_ALLOWED: [
    {
      how: "a verb that the route does not take",
      only: rest("gRPC has one verb"),
      provoke: (stack) => rawRest(stack, { verb: "DELETE", path: "/v1/sign" }),
      headers: { allow: "GET, POST, HEAD, OPTIONS" },
    },
  ],
  UNSUPPORTED_MEDIA_TYPE: [
    {
      how: "a body that does not say it is JSON",
      only: rest("a gRPC message in another codec is UNIMPLEMENTED"),
      provoke: (stack) =>
        rawRest(stack, {
          verb: "POST",
          path: "/v1/sign",
          headers: { "content-type": "text/plain" },
          body: JSON.stringify(sign()),
        }),
    },
  ],
  NOT_ACCEPTABLE: [
    {
      how: "a caller who takes nothing that the route gives",
      only: rest("gRPC has no content negotiation: the reply has the request's codec"),
      provoke: (stack) =>
        rawRest(stack, { verb: "GET", path: "/v1/network", headers: { accept: "image/png" } }),
    },
  ],
  RANGE_NOT_SATISFIABLE: [
    {
      how: "a range behind the end of the parameters",
      only: rest("ranges are HTTP's; over gRPC `offset` past the end gives an empty stream"),
      provoke: (stack) =>
        rawRest(stack, {
          verb: "GET",
          path: `/v1/protocol-parameters/${stack.parametersSha256}`,
          headers: { range: "bytes=1000-" },
        }),
      headers: { "content-range": "bytes */1000" },
    },
  ],
  UNIMPLEMENTED: [
    {
      how: "a method that the service has not",
      only: grpc("over REST it is a path of no route: ROUTE_NOT_FOUND"),
      provoke: (stack) => rawGrpc(stack, "/tss.v1.Signing/Forge", {}, grpcFrame(new Uint8Array())),
    },
    {
      how: "messages in a compression that the server has not",
      only: grpc("over REST it is the body's encoding: UNSUPPORTED_MEDIA_TYPE"),
      provoke: (stack) =>
        rawGrpc(stack, grpcPathOf(getNetwork), { "grpc-encoding": "zstd" }, grpcFrame(new Uint8Array())),
    },
    {
      how: "messages in a codec that the server has not",
      only: grpc("over REST it is the body's content type: UNSUPPORTED_MEDIA_TYPE"),
      provoke: (stack) =>
        rawGrpc(
          stack,
          grpcPathOf(reserveSign),
          { "content-type": "application/grpc+xml" },
          grpcFrame(new Uint8Array()),
        ),
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
