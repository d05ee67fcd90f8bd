import { create, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { ConnectError, createClient, type ServiceImpl } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { http } from "../../../../gen/proto/google/api/annotations_pb.ts";
import { ErrorInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { Events } from "../../../../gen/proto/tss/v1/events_pb.ts";
import { Identity } from "../../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { Sessions } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { createErrorInterceptor } from "../../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import type { RequestGate } from "../../../../src/transport/calls/call-parts.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";

/** Every method of the contract. */
export const METHODS: readonly DescMethod[] = [
  Onboarding,
  Sharing,
  Signing,
  Billing,
  Account,
  Users,
  Sessions,
  Events,
  Webhooks,
  Identity,
  Admin,
  Operations,
].flatMap((service) => service.methods);

/** The outcome of a call. */
export interface Outcome {
  /** A reason of the catalogue; undefined for success. */
  readonly reason: string | undefined;
  readonly headers: Headers;
}

/** A server of all methods whose implementations only record that they were called. */
export interface ContractServer {
  /** The methods that were called, in order. */
  readonly reached: string[];
  rest(method: DescMethod, headers: Record<string, string>): Promise<Outcome & { readonly status: number }>;
  grpc(method: DescMethod, headers: Record<string, string>): Promise<Outcome>;
  close(): Promise<void>;
}

/** Serves every method of the contract behind the gate on a free port. */
export async function serveContract(gate: RequestGate): Promise<ContractServer> {
  const reached: string[] = [];
  const errors = createErrorMapping(() => {});
  const server = await startServer({
    host: "127.0.0.1",
    port: 0,
    services: [
      Onboarding,
      Sharing,
      Signing,
      Billing,
      Account,
      Users,
      Sessions,
      Events,
      Webhooks,
      Identity,
      Admin,
      Operations,
    ].map((service: DescService) => registerService(service, implementationOf(service, reached))),
    interceptors: [createErrorInterceptor(errors)],
    errors,
    gate,
  });
  const sessions = new Http2SessionManager(server.url);
  const transport = createGrpcTransport({ baseUrl: server.url, sessionManager: sessions });
  return {
    reached,
    rest: (method, headers) => callRest(server, method, headers),
    async grpc(method, headers) {
      const call = (createClient(method.parent, transport) as Calls)[method.localName]!;
      let head = new Headers();
      const options = { headers, onHeader: (received: Headers) => (head = received) };
      try {
        const reply = call(create(method.input), options);
        if (method.methodKind === "unary") await reply;
        else for await (const _ of reply as AsyncIterable<unknown>);
        return { reason: undefined, headers: head };
      } catch (error) {
        const refusal = ConnectError.from(error);
        return { reason: refusal.findDetails(ErrorInfoSchema)[0]?.reason, headers: refusal.metadata };
      }
    },
    async close() {
      sessions.abort();
      await server.close();
    },
  };
}

type Calls = Record<string, (request: unknown, options: object) => unknown>;

function implementationOf(service: DescService, reached: string[]): Partial<ServiceImpl<DescService>> {
  return Object.fromEntries(
    service.methods.map((method) => [
      method.localName,
      method.methodKind === "unary"
        ? () => {
            reached.push(method.name);
            return create(method.output);
          }
        : async function* () {
            reached.push(method.name);
            yield create(method.output);
          },
    ]),
  ) as unknown as Partial<ServiceImpl<DescService>>;
}

/** A body that cannot be read: a call that is refused for another reason was refused before its body was read. */
async function callRest(
  { url }: TransportServer,
  method: DescMethod,
  headers: Record<string, string>,
): Promise<Outcome & { readonly status: number }> {
  const { pattern } = getOption(method, http);
  if (pattern.case !== "get" && pattern.case !== "post") throw new Error(`${method.name} has no route`);
  const path = pattern.value.replace(/\{[^}]*\}/g, "x");
  const response = await fetch(url + path, {
    method: pattern.case.toUpperCase(),
    headers: { ...headers, "content-type": "application/json" },
    ...(pattern.case === "post" && { body: "{ no JSON" }),
  });
  const text = await response.text();
  const reason = response.ok
    ? undefined
    : (JSON.parse(text) as { details: { reason?: string }[] }).details.find((detail) => detail.reason)
        ?.reason;
  return { reason, headers: response.headers, status: response.status };
}
