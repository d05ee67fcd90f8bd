/** Builds and serves the page, and creates the sessions of its users. README.md says how to run it. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import path from "node:path";
import { type CreatedSession, createClient, TssError } from "threshold-signing-service/sdk";
import { build } from "vite";

/** A demo without passwords: every visitor may be each of them. Use your own login instead. */
const USERS: readonly string[] = ["alice", "bob"];

const PORT = Number(process.env["PORT"] ?? 4173);
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
};

/** The project's key. It stays in this process. */
const { baseUrl, apiKey } = JSON.parse(readFileSync(".data/dev.json", "utf8"));
const client = createClient({ baseUrl, apiKey, network: "localnet" });

/** A signed-in user, by the secret of the cookie. */
const logins = new Map<string, Login>();

interface Login {
  readonly user: string;
  readonly sessions: CreatedSession[];
}

const root = import.meta.dirname;
await build({ root, logLevel: "warn" });
const files = readFiles(path.join(root, "dist"));
let origin = "";
const server = createServer((request, response) => {
  const send = ({ status, headers, body }: Answer) =>
    response.writeHead(status, { "cache-control": "no-store", ...headers }).end(body);
  answer(request).then(send, (error: unknown) => {
    console.error(error);
    send(refusal(502, error instanceof TssError ? error.reason : "INTERNAL"));
  });
});
server.listen(PORT, "127.0.0.1", () => {
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : PORT}`;
  console.log(`Open ${origin}`);
});

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

async function answer(request: IncomingMessage): Promise<Answer> {
  const { method, headers } = request;
  const { pathname } = new URL(request.url ?? "/", origin);
  // The sessions are of one origin, so the page has one.
  if (`http://${headers.host}` !== origin) return { status: 302, headers: { location: origin }, body: "" };
  // Another port of this machine is the same site for the cookie.
  if (method === "POST" && headers.origin !== origin) return refusal(403, "OTHER_ORIGIN");
  const secret = /(?:^|; )example-login=(\w+)/.exec(headers.cookie ?? "")?.[1] ?? "";
  const login = logins.get(secret);
  switch (`${method} ${pathname}`) {
    case "GET /user":
      return json(200, { user: login?.user, users: USERS, serviceUrl: baseUrl });
    case "POST /sign-in":
      return signIn(await readJson(request));
    case "POST /sign-out":
      logins.delete(secret);
      for (const { sessionId, expireTime } of login?.sessions ?? [])
        if (expireTime > new Date()) await client.sessions.revoke({ sessionId });
      return json(200, {});
    case "POST /session":
      return login ? createSession(login, await readJson(request)) : refusal(401, "SIGNED_OUT");
    default: {
      const body = method === "GET" ? files.get(pathname) : undefined;
      const type = TYPES[path.extname(pathname) || ".html"] ?? "text/plain";
      return body ? { status: 200, headers: { "content-type": type }, body } : refusal(404, "NOT_FOUND");
    }
  }
}

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
  const { token, expireTime } = session;
  return json(200, { token, expireTime });
}

function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

function refusal(status: number, reason: string): Answer {
  return json(status, { reason });
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

/** Reads the files of a folder, by their paths in a URL. */
function readFiles(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = names.filter((name) => path.extname(name) !== "");
  const found = new Map(pages.map((name) => [`/${name}`, readFileSync(path.join(folder, name))]));
  return found.set("/", readFileSync(path.join(folder, "index.html")));
}
