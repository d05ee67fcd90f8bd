/** Every reason of the catalogue, provoked through the real stack over REST and gRPC. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  ERROR_CATALOGUE,
  type ErrorKind,
  type ErrorReason,
} from "../../../../../src/service/platform/errors/catalogue.ts";
import { httpStatusOfCode } from "../../../../../src/transport/calls/transport-error.ts";
import { DATABASE_TIMEOUT_MS } from "../../../../support/database/database.ts";
import { documentedReasons } from "./documented-reasons.ts";
import { ADMIN_KEY, type ErrorStack, INTERNAL_FAILURE, startErrorStack } from "./error-stack.ts";
import { FULLNODE_FAILURE } from "./fake-fullnode.ts";
import { createGrpcClient } from "./grpc-client.ts";
import type { ProtocolClient } from "./protocol-client.ts";
import { ACCESS_PROVOCATIONS } from "./provocations/access-provocations.ts";
import { ADMIN_PROVOCATIONS } from "./provocations/admin-provocations.ts";
import { DEPOSIT_PROVOCATIONS } from "./provocations/deposit-provocations.ts";
import { EVENT_PROVOCATIONS } from "./provocations/event-provocations.ts";
import { IDENTITY_PROVOCATIONS } from "./provocations/identity-provocations.ts";
import { ONBOARDING_PROVOCATIONS } from "./provocations/onboarding-provocations.ts";
import { PROCESS_PROVOCATIONS } from "./provocations/process-provocations.ts";
import type { Provocation } from "./provocations/provocation.ts";
import { REQUEST_PROVOCATIONS } from "./provocations/request-provocations.ts";
import { SHARING_PROVOCATIONS } from "./provocations/sharing-provocations.ts";
import { SIGNING_PROVOCATIONS } from "./provocations/signing-provocations.ts";
import { USER_PROVOCATIONS } from "./provocations/user-provocations.ts";
import { createRestClient } from "./rest-client.ts";
import type { WireReply } from "./wire-reply.ts";

const TABLES = [
  ACCESS_PROVOCATIONS,
  IDENTITY_PROVOCATIONS,
  REQUEST_PROVOCATIONS,
  ONBOARDING_PROVOCATIONS,
  SHARING_PROVOCATIONS,
  USER_PROVOCATIONS,
  EVENT_PROVOCATIONS,
  SIGNING_PROVOCATIONS,
  DEPOSIT_PROVOCATIONS,
  ADMIN_PROVOCATIONS,
  PROCESS_PROVOCATIONS,
];

/** The reasons that only one protocol can return. Each provocation says why the other cannot. */
const ONE_PROTOCOL: Readonly<Partial<Record<ErrorReason, ProtocolClient["name"]>>> = {
  MALFORMED_FRAME: "grpc",
  METHOD_NOT_ALLOWED: "rest",
  NOT_ACCEPTABLE: "rest",
  RANGE_NOT_SATISFIABLE: "rest",
  UNIMPLEMENTED: "grpc",
  UNSUPPORTED_MEDIA_TYPE: "rest",
};

const cases = TABLES.flatMap((table) => Object.entries<readonly Provocation[]>(table)).flatMap(
  ([reason, provocations]) =>
    provocations.flatMap((provocation) =>
      (["rest", "grpc"] as const)
        .filter(
          (protocolClient) =>
            provocation.only === undefined || provocation.only.protocolClient === protocolClient,
        )
        .map((protocolClient) => ({
          reason: reason as ErrorReason,
          protocolClient,
          how: provocation.how,
          provocation,
        })),
    ),
);

let stack: ErrorStack;
let protocolClients: Record<"rest" | "grpc", ProtocolClient>;
const given = new Set<string>();
const named = new Set<string>();
const refusedOperations = new Map<string, Set<string>>();

beforeAll(async () => {
  stack = await startErrorStack();
  protocolClients = { rest: noting(createRestClient(stack.url)), grpc: createGrpcClient(stack.url) };
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  protocolClients.grpc.close();
  await stack.close();
});

describe("a reply", () => {
  it.each(cases)(
    "over $protocolClient has $reason: $how",
    async ({ reason, protocolClient, provocation }) => {
      const reply = await provocation.provoke(stack, protocolClients[protocolClient]);
      expect({ reason: reply.reason, domain: reply.domain, message: reply.message }).toEqual({
        reason,
        domain: "tss",
        message: expect.stringMatching(/./),
      });
      given.add(`${reason} over ${protocolClient}`);
      expectStatus(reply, ERROR_CATALOGUE[reason], protocolClient, provocation);
      expectRetryHint(reply, ERROR_CATALOGUE[reason], protocolClient, provocation);
      const requestId = reply.headers.get("x-request-id");
      expect(requestId).toMatch(/./);
      expect(reply.metadata).toEqual(reason === "INTERNAL" ? { requestId } : (provocation.metadata ?? {}));
      for (const name of Object.keys(reply.metadata)) named.add(`${reason} names ${name}`);
      expect(reply.fields).toEqual(provocation.fields ?? []);
      expectNothingInternal(reply);
    },
  );
});

it("every reason of the catalogue was seen over both protocols, or over the only one that can give it", () => {
  const wanted = (Object.keys(ERROR_CATALOGUE) as ErrorReason[]).flatMap((reason) =>
    (["rest", "grpc"] as const)
      .filter((protocolClient) => (ONE_PROTOCOL[reason] ?? protocolClient) === protocolClient)
      .map((protocolClient) => `${reason} over ${protocolClient}`),
  );
  expect([...given].sort()).toEqual(wanted.sort());
});

it("the OpenAPI document lists for each operation the reasons of its refusals", () => {
  const documented = documentedReasons();
  const missing = [...refusedOperations].flatMap(([operation, reasons]) =>
    [...reasons]
      .filter((reason) => !documented.get(operation)?.has(reason))
      .map((reason) => `${operation}: ${reason}`),
  );
  expect(missing).toEqual([]);
});

it("the metadata of the replies has exactly the keys that the catalogue lists", () => {
  const listed = Object.entries<ErrorKind>(ERROR_CATALOGUE).flatMap(([reason, { metadata = [] }]) =>
    metadata.map((name) => `${reason} names ${name}`),
  );
  expect([...named].sort()).toEqual(listed.sort());
});

it("the log has the details that callers do not see, under the reply's request id", async () => {
  const reply = await stack.broken(() =>
    PROCESS_PROVOCATIONS.INTERNAL[0].provoke(stack, protocolClients.grpc),
  );
  expect(stack.failures.at(-1)).toMatchObject({
    level: "error",
    reason: "INTERNAL",
    detail: INTERNAL_FAILURE,
    requestId: reply.headers.get("x-request-id"),
  });
});

/** Wraps a protocol's client, and records each refusal by operation. */
function noting(protocolClient: ProtocolClient): ProtocolClient {
  return {
    ...protocolClient,
    async call(call) {
      const reply = await protocolClient.call(call);
      const reasons = refusedOperations.get(call.method.localName) ?? new Set();
      if (reply.reason !== undefined) refusedOperations.set(call.method.localName, reasons.add(reply.reason));
      return reply;
    },
  };
}

function expectStatus(
  reply: WireReply,
  kind: ErrorKind,
  protocolClient: ProtocolClient["name"],
  { isInStream = false, headers = {} }: Provocation,
): void {
  const httpStatus = kind.httpStatus ?? httpStatusOfCode(kind.code);
  expect({ code: reply.code, http: reply.httpStatus }).toEqual({
    code: kind.code,
    // gRPC carries everything in its own status.
    http: protocolClient === "grpc" || isInStream ? 200 : httpStatus,
  });
  expect(Object.fromEntries(reply.headers)).toMatchObject(headers);
}

function expectRetryHint(
  { retryDelaySeconds, headers }: WireReply,
  { retryAfterSeconds, isRetryComputed = false }: ErrorKind,
  protocolClient: ProtocolClient["name"],
  { isInStream = false }: Provocation,
): void {
  if (isRetryComputed) expect(retryDelaySeconds).toBeGreaterThan(0);
  else expect(retryDelaySeconds).toBe(retryAfterSeconds);
  // Over REST, the head of a stream is sent before there is a failure to retry.
  const hasHeader = retryDelaySeconds !== undefined && !(protocolClient === "rest" && isInStream);
  expect(headers.get("retry-after")).toBe(hasHeader ? String(Math.ceil(retryDelaySeconds)) : null);
}

function expectNothingInternal({ text }: WireReply): void {
  for (const secret of [ADMIN_KEY, ...stack.keys, INTERNAL_FAILURE, FULLNODE_FAILURE]) {
    expect(text).not.toContain(secret);
  }
  expect(text).not.toMatch(
    /\bat \S+ \(|node_modules|\.ts:\d|SELECT |INSERT |ENOSPC|ECONNREFUSED|lock timeout/,
  );
}
