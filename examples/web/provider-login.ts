/** Signs users in at an identity provider (OpenID Connect), with no backend of the page. */
import * as oauth from "oauth4webapi";
import { openDeviceKey } from "threshold-signing-service/device-key";
import type { SessionSource } from "threshold-signing-service/sdk";
import type { Login } from "./login.ts";

/** An identity provider of a project. None of it is secret. */
export interface TrustedProvider {
  readonly serviceUrl: string;
  readonly provider: {
    readonly issuer: string;
    /** The page's name at the provider. */
    readonly clientId: string;
    readonly projectId: string;
  };
}

/** What the page keeps while the user is at the provider. */
interface Begun {
  readonly codeVerifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** The local provider has no TLS. Remove this for a real one. */
const INSECURE = { [oauth.allowInsecureRequests]: true };
const BEGUN = "threshold-signing-login";

/** Completes the login if the provider has just sent the user back. */
export async function openProviderLogin({ serviceUrl, provider }: TrustedProvider): Promise<Login> {
  const issuer = new URL(provider.issuer);
  const client: oauth.Client = { client_id: provider.clientId };
  const redirectUrl = `${location.origin}/`;
  const discover = async () =>
    await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, INSECURE));

  /** Exchanges the code in the page's URL for an ID token, and checks that it answers this page's own request. */
  async function complete({ codeVerifier, state, nonce }: Begun): Promise<{ idToken: string; user: string }> {
    const server = await discover();
    const code = oauth.validateAuthResponse(server, client, new URL(location.href), state);
    const args = [server, client, oauth.None(), code, redirectUrl, codeVerifier, INSECURE] as const;
    const reply = await oauth.authorizationCodeGrantRequest(...args);
    const expected = { expectedNonce: nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, reply, expected);
    return { idToken: tokens.id_token ?? "", user: oauth.getValidatedIdTokenClaims(tokens)?.sub ?? "" };
  }

  let completed: { readonly idToken: string; readonly user: string } | undefined;
  let failure: unknown;
  const begun = takeBegun();
  try {
    if (begun && new URLSearchParams(location.search).has("state")) completed = await complete(begun);
  } catch (error) {
    failure = error;
  }
  // A reload must not use the code again.
  if (location.search !== "") history.replaceState(null, "", "/");

  return {
    serviceUrl,
    users: undefined,
    user: completed?.user,
    failure,
    session: sessionOf(serviceUrl, provider.projectId, completed?.idToken),
    async signIn() {
      const server = await discover();
      const codeVerifier = oauth.generateRandomCodeVerifier();
      const next = { codeVerifier, state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce() };
      sessionStorage.setItem(BEGUN, JSON.stringify(next));
      const url = new URL(server.authorization_endpoint ?? "");
      url.search = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: redirectUrl,
        response_type: "code",
        scope: "openid",
        // The provider asks each time: the next person at this device must not get the account.
        prompt: "login",
        state: next.state,
        nonce: next.nonce,
        code_challenge: await oauth.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      }).toString();
      location.assign(url);
      // The page is gone before anything else happens.
      await new Promise(() => {});
    },
    // The page's memory has the only copies of its tokens, and the provider asks again at the next login.
    signOut: async () => {},
  };
}

/** Returns what the page began before it left, once. */
function takeBegun(): Begun | undefined {
  const kept = sessionStorage.getItem(BEGUN);
  sessionStorage.removeItem(BEGUN);
  return kept === null ? undefined : JSON.parse(kept);
}

/** Exchanges the ID token for a session that is bound to the key of this device. */
function sessionOf(serviceUrl: string, projectId: string, idToken: string | undefined): SessionSource {
  const url = `${serviceUrl}/v1/token-exchange`;
  return async () => {
    const device = await openDeviceKey();
    const send = async (nonce?: string) =>
      await fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          dpop: await device.signProof({ method: "POST", url, nonce }),
        },
        body: JSON.stringify({ projectId, idToken }),
      });
    let reply = await send();
    const nonce = reply.headers.get("dpop-nonce");
    // The service says which nonce makes a proof a fresh one.
    if (reply.status === 401 && nonce !== null) reply = await send(nonce);
    const body = await reply.json();
    if (!reply.ok) throw new Error(`the service answered ${reply.status} ${body.details?.[0]?.reason}`);
    return { token: body.sessionToken, expireTime: body.expireTime, userReference: body.userReference };
  };
}
