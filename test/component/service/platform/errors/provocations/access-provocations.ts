import { expect } from "vitest";
import { Admin } from "../../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../../../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Sessions } from "../../../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Users } from "../../../../../../gen/proto/tss/v1/users_pb.ts";
import { newId } from "../../../../../../src/service/platform/store/database.ts";
import { BOUNDS, type ErrorStack, perSecond } from "../error-stack.ts";
import { registration } from "./onboarding-provocations.ts";
import type { Provocation } from "./provocation.ts";

const { getBalance, getPricing } = Billing.method;
const { getDWallet } = Onboarding.method;
const { createSession } = Sessions.method;
const request = { dwalletId: `0x${"1".repeat(64)}` };
const session = (scopes: string[]) => ({ userReference: "user", scopes });
const testnet = { "x-network": "testnet" };

/** Refusals because of the key or the rate of calls. */
export const ACCESS_PROVOCATIONS = {
  MISSING_KEY: [
    { how: "a call without a key", provoke: (_stack, client) => client.call({ method: getBalance }) },
    {
      how: "a call with a password in place of a key",
      provoke: (_stack, client) =>
        client.call({ method: getBalance, headers: { authorization: "Basic YTpi" } }),
    },
  ],
  INVALID_KEY: [
    {
      how: "a key that nobody has made",
      provoke: (_stack, client) => client.call({ method: getBalance, key: `tss_local_${"0".repeat(32)}` }),
    },
    {
      how: "a text that is no key",
      provoke: (_stack, client) => client.call({ method: getBalance, headers: { "x-api-key": "nonsense" } }),
    },
  ],
  REVOKED_KEY: [
    {
      how: "a revoked key",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        return client.call({ method: getBalance, key: await stack.newKey({ projectId, isRevoked: true }) });
      },
    },
  ],
  EXPIRED_KEY: [
    {
      how: "a key whose time is over",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        return client.call({
          method: getBalance,
          key: await stack.newKey({ projectId, expiresAt: new Date(0) }),
        });
      },
      metadata: { expireTime: "1970-01-01T00:00:00.000Z" },
    },
  ],
  NETWORK_MISMATCH: [
    {
      how: "a key with the name of another network than its own",
      async provoke(stack, client) {
        return client.call({ method: getBalance, key: (await stack.newProject()).key, headers: testnet });
      },
      metadata: { network: "localnet" },
    },
  ],
  ADMIN_ONLY: [
    {
      how: "a project's key on an operator's call",
      async provoke(stack, client) {
        return client.call({ method: Admin.method.getPresignHealth, key: (await stack.newProject()).key });
      },
    },
  ],
  ROOT_KEY_ONLY: [
    {
      how: "a named admin key where another one is made",
      async provoke(stack, client) {
        const key = await stack.newAdminKey(`named-${newId()}`);
        return client.call({ method: Admin.method.createAdminKey, key, request: { name: "another" } });
      },
    },
  ],
  ADDRESS_NOT_ALLOWED: [
    {
      how: "a key that is for other addresses than the caller's",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newKey({ projectId, allowedAddresses: ["192.0.2.0/24", "2001:db8::/32"] });
        return client.call({ method: getBalance, key });
      },
      metadata: { address: "127.0.0.1" },
    },
  ],
  SESSION_REVOKED: [
    {
      how: "a revoked session",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newSession({ projectId, isRevoked: true });
        return client.call({ method: getDWallet, request, key });
      },
    },
    {
      how: "a session whose key was revoked",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await stack.newKey({ projectId, isRevoked: true });
        const [maker] = await stack.database.prisma.apiKey.findMany({
          where: { projectId, revokedAt: { not: null } },
        });
        const key = await stack.newSession({ projectId, apiKeyId: maker?.id });
        return client.call({ method: getDWallet, request, key });
      },
    },
  ],
  SESSION_EXPIRED: [
    {
      how: "a session whose time is over",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newSession({ projectId, lifetimeSeconds: -1 });
        return client.call({ method: getDWallet, request, key });
      },
      metadata: { expireTime: expect.stringMatching(/^\d{4}-.*Z$/) },
    },
  ],
  SESSION_NOT_FOUND: [
    {
      how: "the id of another project's session",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await stack.newSession({ projectId });
        const session = await stack.database.prisma.session.findFirstOrThrow({ where: { projectId } });
        const { key } = await stack.newProject();
        return client.call({ method: Sessions.method.getSession, request: { sessionId: session.id }, key });
      },
      metadata: { sessionId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    },
  ],
  SESSION_TOO_WIDE: [
    {
      how: "a session with a scope that its key lacks",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newKey({ projectId, scopes: ["sessions", "read"] });
        return client.call({ method: createSession, request: session(["read", "sign"]), key });
      },
      metadata: { field: "scopes" },
    },
    {
      how: "a session of a key that has a budget",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const budget = { windowSeconds: 3_600, maxCount: 1, maxMicroUsd: undefined };
        const key = await stack.newKey({ projectId, scopes: ["sessions", "read"], limits: { budget } });
        return client.call({ method: createSession, request: session(["read"]), key });
      },
      metadata: { field: "allowance.budget" },
    },
  ],
  TOO_MANY_SESSIONS: [
    {
      how: "one session more than a project may have",
      async provoke(stack, client) {
        const { projectId, key } = await stack.newProject();
        for (let count = 0; count < BOUNDS.sessionsMaxCount; count++) await stack.newSession({ projectId });
        return client.call({ method: createSession, request: session(["read"]), key });
      },
      metadata: { maxCount: String(BOUNDS.sessionsMaxCount) },
    },
  ],
  ORIGIN_NOT_ALLOWED: [
    {
      how: "a session from a page of another origin",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newSession({ projectId, origins: ["https://app.example"] });
        return client.call({ method: getDWallet, request, key, headers: { origin: "https://evil.example" } });
      },
      metadata: { origin: "https://evil.example" },
    },
    {
      how: "a key from a page of another origin",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        const key = await stack.newKey({ projectId, allowedOrigins: ["https://app.example"] });
        return client.call({ method: getBalance, key, headers: { origin: "https://evil.example" } });
      },
      metadata: { origin: "https://evil.example" },
    },
  ],
  KEY_IN_BROWSER: [
    {
      how: "a project's key from a page",
      async provoke(stack, client) {
        const { key } = await stack.newProject();
        return client.call({ method: getBalance, key, headers: { origin: "https://app.example" } });
      },
      metadata: { origin: "https://app.example" },
    },
  ],
  SCOPE_MISSING: [
    {
      how: "a key without the call's scope",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        return client.call({ method: getBalance, key: await stack.newKey({ projectId, scopes: ["sign"] }) });
      },
      metadata: { scope: "billing" },
    },
  ],
  OUT_OF_REACH: [
    {
      how: "a caller that is confined to a user, on a call about the whole project",
      async provoke(stack, client) {
        return client.call({ method: Users.method.listUsers, key: await keyOfAlice(stack) });
      },
    },
    {
      how: "a registration for another user than the caller's",
      async provoke(stack, client) {
        const request = { ...registration().request, userReference: "bob" };
        const key = await keyOfAlice(stack);
        return client.call({ method: Onboarding.method.registerEncryptionKey, key, request });
      },
    },
  ],
  NETWORK_DISABLED: [
    {
      how: "the name of a network that is not served",
      provoke: (_stack, client) => client.call({ method: Onboarding.method.getNetwork, headers: testnet }),
      metadata: { network: "testnet" },
    },
  ],
  RATE_LIMITED: [
    {
      how: "the second call of a key that has one call in a thousand seconds",
      async provoke(stack, client) {
        const { url } = await stack.serve({ limits: perSecond(0.001, 1_000) });
        const { key } = await stack.newProject();
        const first = await client.call({ method: getPricing, key, url });
        if (first.code !== 0) throw new Error(`the first call was refused: ${first.message}`);
        return client.call({ method: getPricing, key, url });
      },
      headers: { "ratelimit-limit": "1", "ratelimit-remaining": "0" },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;

/** A key that is confined to one user. */
async function keyOfAlice(stack: ErrorStack): Promise<string> {
  const { projectId } = await stack.newProject();
  const limits = { userReferences: ["alice"] };
  return stack.newKey({ projectId, scopes: ["onboard", "sign", "read"], limits });
}
