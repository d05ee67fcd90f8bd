/** Signs users in, and creates their sessions. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { type CreatedSession, createClient } from "threshold-signing-service/sdk";
import { type Answer, type Backend, json, refusal } from "./serve-page.ts";

/** A demo without passwords: every visitor may be each of them. Use your own login instead. */
const USERS: readonly string[] = ["alice", "bob"];

interface Login {
  readonly user: string;
  readonly sessions: CreatedSession[];
}

/** Creates the backend of a page, which holds the project's key. */
export function createBackend(origin: string): Backend {
  /** The project's key. It stays in this process. */
  const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
  const client = createClient({ baseUrl, apiKey, network: "localnet" });
  /** A signed-in user, by the secret of the cookie. */
  const logins = new Map<string, Login>();

  function signIn({ user }: Body): Answer {
    if (user === undefined || !USERS.includes(user)) return refusal(400, "UNKNOWN_USER");
    const secret = randomBytes(32).toString("hex");
    logins.set(secret, { user, sessions: [] });
    // Scripts cannot read the cookie, and other sites' pages cannot use it.
    const cookie = `example-login=${secret}; HttpOnly; SameSite=Strict; Path=/`;
    return json(200, {}, { "set-cookie": cookie });
  }

  /** Creates a session for the signed-in user, for pages of this origin and for the device with this key. */
  async function createSession({ user, sessions }: Login, { proofKeyThumbprint }: Body): Promise<Answer> {
    if (proofKeyThumbprint === undefined) return refusal(400, "NO_DEVICE_KEY");
    const session = await client.sessions.create({
      userReference: user,
      scopes: ["onboard", "sign", "read"],
      origins: [origin],
      lifetimeSeconds: 600,
      proofKeyThumbprint,
    });
    sessions.push(session);
    const { token, expireTime, userReference } = session;
    // With the user, the page's client notices that somebody else has signed in in another tab.
    return json(200, { token, expireTime, userReference });
  }

  return async (request, pathname) => {
    const secret = /(?:^|; )example-login=(\w+)/.exec(request.headers.cookie ?? "")?.[1] ?? "";
    const login = logins.get(secret);
    switch (`${request.method} ${pathname}`) {
      case "GET /login":
        return json(200, { user: login?.user, users: USERS, serviceUrl: baseUrl });
      case "POST /sign-in":
        return signIn(await readJson(request));
      case "POST /sign-out":
        logins.delete(secret);
        for (const { sessionId, expireTime } of login?.sessions ?? [])
          if (expireTime > new Date()) await client.sessions.revoke({ sessionId });
        return json(200, {});
      case "POST /session":
        return login ? await createSession(login, await readJson(request)) : refusal(401, "SIGNED_OUT");
      default:
        return undefined;
    }
  };
}

interface Body {
  readonly user?: string;
  readonly proofKeyThumbprint?: string;
}

const BODY_MAX_LENGTH = 1_000;

/** Reads the texts of a JSON object; nothing of anything else. */
async function readJson(request: IncomingMessage): Promise<Body> {
  let text = "";
  for await (const chunk of request) {
    text += chunk;
    if (text.length > BODY_MAX_LENGTH) return {};
  }
  try {
    const { user, proofKeyThumbprint } = JSON.parse(text);
    return {
      ...(typeof user === "string" && { user }),
      ...(typeof proofKeyThumbprint === "string" && { proofKeyThumbprint }),
    };
  } catch {
    return {};
  }
}
