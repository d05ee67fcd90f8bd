/** Serves the page without a backend, beside its own identity provider. README.md says how to run it. */
import { readFileSync } from "node:fs";
import { createAdminClient, SessionScope } from "threshold-signing-service/admin";
import { createClient } from "threshold-signing-service/sdk";
import { startLocalProvider } from "./local-provider.ts";
import { json, servePage } from "./serve-page.ts";

const CLIENT_ID = "example-page";
const PROVIDER_PORT = Number(process.env["PROVIDER_PORT"] ?? 4174);

const { baseUrl, apiKey, adminApiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));

await servePage(import.meta.dirname, async (origin) => {
  const { issuer, keySetUrl } = await startLocalProvider(PROVIDER_PORT, [
    { clientId: CLIENT_ID, redirectUrl: `${origin}/` },
  ]);
  const projectId = await trust(issuer, keySetUrl, origin);
  const login = { serviceUrl: baseUrl, provider: { issuer, clientId: CLIENT_ID, projectId } };
  return async ({ method }, pathname) =>
    `${method} ${pathname}` === "GET /login" ? json(200, login) : undefined;
});

/**
 * Makes the service accept the provider's tokens, as an operator does once with `tss identity-provider add`. Returns the
 * project's id.
 */
async function trust(issuer: string, keySetUrl: string, origin: string): Promise<string> {
  const network = "localnet";
  const { projectId } = await createClient({ baseUrl, apiKey, network }).account();
  const admin = createAdminClient({ baseUrl, adminKey: adminApiKey, network });
  const { identityProviders } = await admin.listIdentityProviders({ projectId });
  for (const { identityProviderId, settings } of identityProviders)
    if (settings?.issuer === issuer) await admin.deleteIdentityProvider({ identityProviderId });
  await admin.createIdentityProvider({
    projectId,
    settings: {
      ...{ issuer, keySetUrl, audiences: [CLIENT_ID], origins: [origin] },
      scopes: [SessionScope.onboard, SessionScope.sign, SessionScope.read],
      sessionSeconds: 600,
    },
  });
  return projectId;
}
