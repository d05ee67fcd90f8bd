/** The reasons of keys, users, sessions and their proofs, as a page gets them over Connect and gRPC-web. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { ERROR_CATALOGUE, type ErrorReason } from "../../../../../src/service/platform/errors/catalogue.ts";
import { httpStatusOfCode } from "../../../../../src/transport/calls/transport-error.ts";
import { DATABASE_TIMEOUT_MS } from "../../../../support/database/database.ts";
import { ADMIN_KEY, type ErrorStack, startErrorStack } from "./error-stack.ts";
import { ACCESS_PROVOCATIONS } from "./provocations/access-provocations.ts";
import { EVENT_PROVOCATIONS } from "./provocations/event-provocations.ts";
import { IDENTITY_PROVOCATIONS } from "./provocations/identity-provocations.ts";
import { ONBOARDING_PROVOCATIONS } from "./provocations/onboarding-provocations.ts";
import type { Provocation } from "./provocations/provocation.ts";
import { SHARING_PROVOCATIONS } from "./provocations/sharing-provocations.ts";
import { SIGNING_PROVOCATIONS } from "./provocations/signing-provocations.ts";
import { USER_PROVOCATIONS } from "./provocations/user-provocations.ts";
import { createWebClient } from "./web-client.ts";

const REASONS = [
  ...["SESSION_EXPIRED", "SESSION_REVOKED", "SESSION_NOT_FOUND", "SESSION_TOO_WIDE", "TOO_MANY_SESSIONS"],
  ...["TOKEN_INVALID", "PROOF_INVALID", "PROOF_NONCE_REQUIRED", "IDENTITY_PROVIDER_UNAVAILABLE"],
  ...["USER_FROZEN", "USER_DELETED", "USER_NOT_FOUND", "TOO_MANY_USERS", "OUT_OF_REACH"],
  ...["KEY_IN_BROWSER", "ORIGIN_NOT_ALLOWED", "ALGORITHM_NOT_ALLOWED", "BUDGET_EXCEEDED"],
] as readonly ErrorReason[];

const known = [
  ACCESS_PROVOCATIONS,
  IDENTITY_PROVOCATIONS,
  USER_PROVOCATIONS,
  EVENT_PROVOCATIONS,
  ONBOARDING_PROVOCATIONS,
  SHARING_PROVOCATIONS,
  SIGNING_PROVOCATIONS,
].flatMap((table) => Object.entries<readonly Provocation[]>(table));
const cases = REASONS.flatMap((reason) =>
  known
    .filter(([each]) => each === reason)
    .flatMap(([, provocations]) => provocations)
    .filter(({ only }) => only === undefined)
    .flatMap((provocation) =>
      (["connect", "grpc-web"] as const).map((name) => ({ reason, name, how: provocation.how, provocation })),
    ),
);

let stack: ErrorStack;
beforeAll(async () => {
  stack = await startErrorStack();
}, DATABASE_TIMEOUT_MS);
afterAll(() => stack.close());

it.each(cases)("over $name has $reason: $how", async ({ reason, name, provocation }) => {
  const reply = await provocation.provoke(stack, createWebClient(name, stack.url));
  const { code, httpStatus = httpStatusOfCode(code) } = ERROR_CATALOGUE[reason] as {
    code: number;
    httpStatus?: number;
  };
  expect(reply).toMatchObject({ reason, domain: "tss", code, message: expect.stringMatching(/./) });
  expect(reply.metadata).toEqual(provocation.metadata ?? {});
  expect(reply.fields).toEqual(provocation.fields ?? []);
  // gRPC-web, and a Connect stream that has begun, have everything in their own status.
  if (name === "connect" && provocation.isInStream !== true) expect(reply.httpStatus).toBe(httpStatus);
  else expect(reply.httpStatus).toBe(200);
  for (const secret of [ADMIN_KEY, ...stack.keys]) expect(reply.text).not.toContain(secret);
});

it("every reason was provoked over both protocols", () => {
  for (const reason of REASONS)
    expect(new Set(cases.filter((each) => each.reason === reason).map(({ name }) => name)).size, reason).toBe(
      2,
    );
});
