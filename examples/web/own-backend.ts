import type { SessionRequest, SessionToken } from "threshold-signing-service/sdk";

/** What the page's own backend says. */
export interface Visitor {
  /** The signed-in user. */
  readonly user?: string;
  /** The users of the demo. */
  readonly users: readonly string[];
  readonly serviceUrl: string;
}

/** Asks who is signed in. */
export async function readVisitor(): Promise<Visitor> {
  return await call("/user", { method: "GET" });
}

/** Signs the visitor in. The backend sets a cookie, which scripts cannot read. */
export async function signIn(user: string): Promise<void> {
  await post("/sign-in", { user });
}

/** Signs the visitor out, and ends their sessions. */
export async function signOut(): Promise<void> {
  await post("/sign-out", {});
}

/** Returns a token of the signed-in user for the service. Without the key of this device it is useless. */
export async function session({ proofKeyThumbprint }: SessionRequest): Promise<SessionToken> {
  return await post("/session", { proofKeyThumbprint });
}

function post<T>(path: string, body: object): Promise<T> {
  return call(path, { method: "POST", body: JSON.stringify(body) });
}

async function call<T>(path: string, init: RequestInit): Promise<T> {
  const reply = await fetch(path, init);
  const body = await reply.json();
  if (!reply.ok) throw new Error(`the page's backend answered ${reply.status} ${body.reason}`);
  return body;
}
