import type { JsonObject } from "@bufbuild/protobuf";
import { Admin } from "../../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Identity } from "../../../../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { newId } from "../../../../../../src/service/platform/store/database.ts";
import { signedToken, thumbprintOf, tokenKey } from "../../../../../support/crypto/signed-token.ts";
import { ADMIN_KEY, type ErrorStack } from "../error-stack.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import type { Provocation } from "./provocation.ts";

const ISSUER = "https://login.example";
const issuerKey = tokenKey("ES256", "k1");
const device = tokenKey("ES256");
const { createIdentityProvider, deleteIdentityProvider } = Admin.method;
const KEYS = { keySetJson: JSON.stringify({ keys: [issuerKey.jwk] }) };

/** A provider whose sessions need no key of a device. */
export const PROVIDER_SETTINGS = {
  ...{ issuer: ISSUER, audiences: ["app"], scopes: ["read"], allowsUnbound: true },
  ...KEYS,
};

const addProvider = (client: ProtocolClient, projectId: string, settings: JsonObject = KEYS) =>
  client.call({
    method: createIdentityProvider,
    key: ADMIN_KEY,
    request: {
      projectId,
      settings: { issuer: ISSUER, audiences: ["app"], scopes: ["read"], ...settings },
    },
  });

/** An ID token of the provider with {@link PROVIDER_SETTINGS}. */
export const newIdToken = (): string => {
  const now = Math.floor(Date.now() / 1_000);
  const claims = { iss: ISSUER, aud: "app", sub: "user-7", iat: now, exp: now + 60 };
  return signedToken({ alg: "ES256", kid: "k1" }, claims, issuerKey.privateKey);
};

const exchange = (client: ProtocolClient, projectId: string, token = newIdToken()) =>
  client.call({ method: Identity.method.exchangeToken, request: { projectId, idToken: token } });

/** Calls a method with a session that is bound to a device, and no proof. */
async function callBound(stack: ErrorStack, client: ProtocolClient) {
  const { projectId } = await stack.newProject();
  const key = await stack.newSession({ projectId, proofKeyThumbprint: thumbprintOf(device) });
  return client.call({ method: Onboarding.method.listDWallets, key });
}

/** Refusals of ID tokens, proofs and identity providers. */
export const IDENTITY_PROVOCATIONS = {
  TOKEN_INVALID: [
    {
      how: "a text that is no ID token",
      provoke: async (stack, client) => exchange(client, (await stack.newProject()).projectId, "a.b.c"),
      metadata: { fault: "malformed" },
    },
    {
      how: "a token of another project's identity provider",
      async provoke(stack, client) {
        await addProvider(client, (await stack.newProject()).projectId);
        return exchange(client, (await stack.newProject()).projectId);
      },
      metadata: { fault: "issuer" },
    },
    {
      how: "a token for a project that does not exist, with the same words",
      provoke: (_stack, client) => exchange(client, newId()),
      metadata: { fault: "issuer" },
    },
  ],
  IDENTITY_PROVIDER_UNAVAILABLE: [
    {
      how: "a token of a provider that does not answer",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await addProvider(client, projectId, { keySetUrl: "https://login.example/jwks" });
        return exchange(client, projectId);
      },
    },
  ],
  PROOF_INVALID: [
    {
      how: "a session of a device without a proof",
      provoke: (stack, client) => callBound(stack, client),
      metadata: { fault: "missing" },
      headers: { "www-authenticate": 'DPoP error="invalid_dpop_proof"' },
    },
    {
      how: "an ID token without a proof where the provider asks for one",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await addProvider(client, projectId);
        return exchange(client, projectId);
      },
      metadata: { fault: "missing" },
    },
  ],
  PROOF_NONCE_REQUIRED: [
    {
      how: "a proof without a nonce",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await addProvider(client, projectId);
        const path = client.name === "rest" ? "/v1/token-exchange" : "/tss.v1.Identity/ExchangeToken";
        const claims = { jti: newId(), iat: 0, htm: "POST", htu: `https://tss.example${path}`, nonce: "old" };
        const dpop = signedToken(
          { typ: "dpop+jwt", alg: "ES256", jwk: device.jwk },
          claims,
          device.privateKey,
        );
        const request = { projectId, idToken: newIdToken() };
        return client.call({ method: Identity.method.exchangeToken, request, headers: { dpop } });
      },
      headers: { "www-authenticate": 'DPoP error="use_dpop_nonce"' },
    },
  ],
  IDENTITY_PROVIDER_EXISTS: [
    {
      how: "a second provider with the same issuer",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await addProvider(client, projectId);
        return addProvider(client, projectId);
      },
      metadata: { issuer: ISSUER },
    },
  ],
  TOO_MANY_IDENTITY_PROVIDERS: [
    {
      how: "the ninth provider of a project",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        for (let index = 0; index < 8; index++)
          await addProvider(client, projectId, { ...KEYS, issuer: `${ISSUER}/${index}` });
        return addProvider(client, projectId);
      },
      metadata: { maxCount: "8" },
    },
  ],
  IDENTITY_PROVIDER_NOT_FOUND: [
    {
      how: "a provider that does not exist",
      provoke: (_stack, client) =>
        client.call({
          method: deleteIdentityProvider,
          key: ADMIN_KEY,
          request: { identityProviderId: "01890000-0000-7000-8000-000000000000" },
        }),
      metadata: { identityProviderId: "01890000-0000-7000-8000-000000000000" },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
