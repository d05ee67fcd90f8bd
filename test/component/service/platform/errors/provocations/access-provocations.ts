import { Admin } from "../../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../../../gen/proto/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Users } from "../../../../../../gen/proto/tss/v1/users_pb.ts";
import { newId } from "../../../../../../src/service/platform/store/database.ts";
import { type ErrorStack, perSecond } from "../error-stack.ts";
import { registration } from "./onboarding-provocations.ts";
import type { Provocation } from "./provocation.ts";

const { getBalance, getPricing } = Billing.method;
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
