import { create, fromJson } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../../../gen/proto/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../../../../gen/proto/google/rpc/status_pb.ts";
import type { ProtocolClient, WireCall } from "./protocol-client.ts";
import { toWireReply, type WireReply } from "./wire-reply.ts";

/** Calls methods as a page does: over Connect or gRPC-web, with the transports of `@connectrpc/connect-web`. */
export function createWebClient(name: "connect" | "grpc-web", baseUrl: string): ProtocolClient {
  const open = name === "connect" ? createConnectTransport : createGrpcWebTransport;
  return {
    name,
    async call({ url = baseUrl, ...call }) {
      let httpStatus = 0;
      const transport = open({
        baseUrl: url,
        async fetch(...request) {
          const response = await fetch(...request);
          httpStatus = response.status;
          return response;
        },
      });
      const failure = await failureOf(transport, call);
      return toReply(failure, httpStatus);
    },
    close() {},
  };
}

/** Makes the call and reads its reply to the end. Returns its error; undefined for success. */
async function failureOf(
  transport: Transport,
  { method, request = {}, key, headers = {}, timeoutMs }: Omit<WireCall, "url">,
): Promise<ConnectError | undefined> {
  const message = fromJson(method.input, request);
  const sent = { ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers };
  try {
    if (method.methodKind === "unary") {
      await transport.unary(
        method as typeof method & { methodKind: "unary" },
        undefined,
        timeoutMs,
        sent,
        message,
      );
      return undefined;
    }
    async function* once() {
      yield message;
    }
    const streaming = method as typeof method & { methodKind: "server_streaming" };
    const reply = await transport.stream(streaming, undefined, timeoutMs, sent, once());
    for await (const _ of reply.message);
    return undefined;
  } catch (error) {
    return ConnectError.from(error);
  }
}

function toReply(failure: ConnectError | undefined, httpStatus: number): WireReply {
  const details = [
    ...(failure?.findDetails(ErrorInfoSchema).map((detail) => anyPack(ErrorInfoSchema, detail)) ?? []),
    ...(failure?.findDetails(BadRequestSchema).map((detail) => anyPack(BadRequestSchema, detail)) ?? []),
    ...(failure?.findDetails(RetryInfoSchema).map((detail) => anyPack(RetryInfoSchema, detail)) ?? []),
  ];
  const { code, rawMessage: message = "", metadata: headers = new Headers() } = failure ?? {};
  const values = details.map(({ value }) => Buffer.from(value).toString("latin1"));
  return toWireReply({
    httpStatus,
    headers,
    status: code === undefined ? undefined : create(StatusSchema, { code, message, details }),
    text: JSON.stringify([[...headers], message, values]),
  });
}
