/** Every malformed call gets a reason of the catalogue, and never an internal error. */
import type { DescMethod } from "@bufbuild/protobuf";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { methodPolicy } from "../../../../../src/service/access/method-policy.ts";
import { ERROR_CATALOGUE, type ErrorKind } from "../../../../../src/service/platform/errors/catalogue.ts";
import { DATABASE_TIMEOUT_MS } from "../../../../support/database/database.ts";
import { environment } from "../../../../support/environment.ts";
import { METHODS } from "../../access/contract-calls.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "./error-stack.ts";
import { createGrpcClient, type GrpcClient } from "./grpc-client.ts";
import { malformedGrpc, malformedRest } from "./malformed-calls.ts";
import { sendRest } from "./rest-client.ts";
import type { WireReply } from "./wire-reply.ts";

/** For each method and protocol. */
const RUNS = { numRuns: environment.isReference ? 40 : 4 };

let stack: ErrorStack;
let grpc: GrpcClient;
let projectKey: string;

beforeAll(async () => {
  stack = await startErrorStack();
  grpc = createGrpcClient(stack.url);
  projectKey = (await stack.newProject()).key;
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  grpc.close();
  await stack.close();
});

const methods = METHODS.map((method) => ({ name: `${method.parent.name}/${method.name}`, method }));

function authorization(method: DescMethod): { authorization: string } {
  return { authorization: `Bearer ${methodPolicy(method).access === "admin" ? ADMIN_KEY : projectKey}` };
}

/** A reason of the catalogue, if the call is refused. */
function expectForeseen({ code, reason, domain, headers, text }: WireReply): void {
  expect(headers.get("x-request-id")).toMatch(/./);
  if (code === 0) return;
  const kind = (ERROR_CATALOGUE as Record<string, ErrorKind>)[reason ?? ""];
  expect({ reason, domain, code, isForeseen: reason !== "INTERNAL", text }).toEqual({
    reason: expect.any(String),
    domain: "tss",
    code: kind?.code,
    isForeseen: true,
    text: expect.not.stringContaining(projectKey),
  });
}

describe("malformed calls of", () => {
  it.each(methods)("$name over REST are never an internal error", async ({ method }) => {
    await fc.assert(
      fc.asyncProperty(malformedRest(method), async (request) => {
        const headers = { ...authorization(method), ...request.headers };
        expectForeseen(await sendRest(stack.url, { ...request, headers }));
      }),
      RUNS,
    );
  });

  it.each(methods)("$name over gRPC are never an internal error", async ({ method }) => {
    await fc.assert(
      fc.asyncProperty(malformedGrpc(method), async (request) => {
        const headers = { ...authorization(method), ...request.headers };
        expectForeseen(await grpc.send({ ...request, headers }));
      }),
      RUNS,
    );
  });
});

it("no call was logged as an internal error, and the service still runs", async () => {
  expect(stack.failures.filter(({ level }) => level === "error")).toEqual([]);
  expect((await sendRest(stack.url, { verb: "GET", path: "/v1/network" })).code).toBe(0);
});
