import { createHash, randomBytes } from "node:crypto";
import type { LocalApp, LocalProvider } from "../../examples/web/local-provider.ts";

/** Signs a user in at a local provider, as a browser without scripts would, and returns the ID token for an app. */
export async function idTokenOf(
  { issuer }: LocalProvider,
  { clientId, redirectUrl }: LocalApp,
  user: string,
): Promise<string> {
  const cookies = new Map<string, string>();
  const visit = async (url: string, init: RequestInit = {}) => {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const reply = await fetch(url, { ...init, redirect: "manual", headers: { cookie } });
    for (const set of reply.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      cookies.set(name, value);
    }
    const location = reply.headers.get("location");
    if (location === null) throw new Error(`the provider answered ${reply.status} ${await reply.text()}`);
    return new URL(location, issuer);
  };
  const codeVerifier = randomBytes(32).toString("base64url");
  const question = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUrl,
    response_type: "code",
    scope: "openid",
    nonce: randomBytes(16).toString("base64url"),
    code_challenge: createHash("sha256").update(codeVerifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const login = await visit(`${issuer}/auth?${question}`);
  const answered = await visit(login.href, { method: "POST", body: new URLSearchParams({ user }) });
  const back = await visit(answered.href);
  const reply = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      redirect_uri: redirectUrl,
      code: back.searchParams.get("code") ?? "",
      code_verifier: codeVerifier,
    }),
  });
  const { id_token: idToken } = (await reply.json()) as { readonly id_token?: string };
  if (idToken === undefined) throw new Error(`the provider gave no token: ${reply.status}`);
  return idToken;
}

/** Returns a part of a token without checking it. */
export function tokenPart(token: string, part: "header" | "claims"): Record<string, unknown> {
  const text = token.split(".")[part === "header" ? 0 : 1] ?? "";
  return JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>;
}
