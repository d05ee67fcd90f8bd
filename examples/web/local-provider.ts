/** An identity provider for development, by the library `oidc-provider`. It asks for no password. */
import { generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Configuration, type JWK, Provider } from "oidc-provider";

/** A running identity provider. */
export interface LocalProvider {
  /** The claim `iss` of its tokens. */
  readonly issuer: string;
  /** Where its public keys are. */
  readonly keySetUrl: string;
  /** Signs with a new key from now on. The former key stays in the key set unless it is withdrawn. */
  rotateKeys(options?: { readonly isWithdrawn?: boolean }): void;
  close(): void;
}

/** An app whose users sign in at the provider. */
export interface LocalApp {
  /** The claim `aud` of its tokens. */
  readonly clientId: string;
  /** Where the provider sends the user back. Pages of this origin get the tokens. */
  readonly redirectUrl: string;
}

/** Starts a provider on this machine. Port 0 is any free one. */
export async function startLocalProvider(port: number, apps: readonly LocalApp[]): Promise<LocalProvider> {
  let keys: JWK[] = [newKey()];
  const cookieKey = randomBytes(32).toString("hex");
  const server = createServer((request, response) => void serve(request, response));
  await once(server.listen(port, "127.0.0.1"), "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  let provider = createProvider();

  function createProvider(): Provider {
    return new Provider(issuer, { ...configurationOf(apps), jwks: { keys }, cookies: { keys: [cookieKey] } });
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!request.url?.startsWith(LOGIN_PATH)) return provider.callback()(request, response);
    try {
      if (request.method !== "POST")
        return void response.setHeader("content-type", "text/html").end(LOGIN_PAGE);
      const user = new URLSearchParams(await readText(request)).get("user") ?? "";
      if (!/^[\w.-]{1,40}$/.test(user)) return void response.writeHead(400).end("Another name, please.");
      await provider.interactionFinished(request, response, { login: { accountId: user } });
    } catch {
      response.writeHead(400).end("Begin again at the page.");
    }
  }

  return {
    issuer,
    keySetUrl: `${issuer}/jwks`,
    rotateKeys({ isWithdrawn = false } = {}) {
      keys = [newKey(), ...(isWithdrawn ? [] : keys)];
      provider = createProvider();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function configurationOf(apps: readonly LocalApp[]): Configuration {
  return {
    clients: apps.map(({ clientId, redirectUrl }) => ({
      client_id: clientId,
      redirect_uris: [redirectUrl],
      // A page keeps no secret: PKCE proves that it began the login.
      token_endpoint_auth_method: "none",
      grant_types: ["authorization_code"],
      response_types: ["code"],
      id_token_signed_response_alg: "ES256",
    })),
    pkce: { required: () => true },
    clientBasedCORS: (_context, origin, { redirectUris = [] }) =>
      redirectUris.some((url) => new URL(url).origin === origin),
    findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `${LOGIN_PATH}${uid}` },
    // The apps are the project's own, so the user is not asked what they may know.
    async loadExistingGrant({ oidc }) {
      const { clientId } = oidc.client!;
      const { accountId } = oidc.session!;
      const grant = new oidc.provider.Grant({ clientId, ...(accountId !== undefined && { accountId }) });
      grant.addOIDCScope("openid");
      await grant.save();
      return grant;
    },
    // An hour, like a provider's; the service decides how old a token it accepts.
    ttl: {
      AccessToken: 600,
      AuthorizationCode: 60,
      Grant: 3_600,
      IdToken: 3_600,
      Interaction: 600,
      Session: 3_600,
    },
  };
}

function newKey(): JWK {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return { ...privateKey.export({ format: "jwk" }), kid: randomUUID(), use: "sig", alg: "ES256" } as JWK;
}

const LOGIN_PATH = "/login/";
const LOGIN_PAGE = `<!doctype html>
<html lang="en">
  <meta charset="utf-8" />
  <title>Local identity provider</title>
  <link rel="icon" href="data:," />
  <h1>Local identity provider</h1>
  <p>This is a demo. It asks for no password.</p>
  <form method="post">
    <label>Name <input name="user" required pattern="[\\w.\\-]{1,40}" autofocus /></label>
    <button>Continue</button>
  </form>
</html>`;

const BODY_MAX_LENGTH = 1_000;

async function readText(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > BODY_MAX_LENGTH) return "";
  }
  return text;
}
