import type { SessionRequest, SessionToken } from "threshold-signing-service/sdk";
import type { Login } from "./login.ts";

/** What the page's own backend says. */
export interface OwnBackend {
  /** The signed-in user. */
  readonly user?: string;
  /** The users of the demo. */
  readonly users: readonly string[];
  readonly serviceUrl: string;
}

/** Returns the login of a page whose own backend signs users in. */
export function openOwnBackend({ user, users, serviceUrl }: OwnBackend): Login {
  return {
    ...{ user, users, serviceUrl, failure: undefined },
    // The backend sets a cookie, which scripts cannot read.
    signIn: async (name) => void (await post("/sign-in", { user: name })),
    // It also ends the user's sessions of this login.
    signOut: async () => void (await post("/sign-out", {})),
    session: ({ proofKeyThumbprint }: SessionRequest): Promise<SessionToken> =>
      post("/session", { proofKeyThumbprint }),
  };
}

async function post<T>(path: string, content: object): Promise<T> {
  const reply = await fetch(path, { method: "POST", body: JSON.stringify(content) });
  const body = await reply.json();
  if (!reply.ok) throw new Error(`the page's backend answered ${reply.status} ${body.reason}`);
  return body;
}
