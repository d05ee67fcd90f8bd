/** Builds a page with Vite, and serves it on this machine. */
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import path from "node:path";
import { TssError } from "threshold-signing-service/sdk";
import { build } from "vite";

/** The reply to a request. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

/** Answers what is no file of the page; undefined for an unknown path. */
export type Backend = (request: IncomingMessage, pathname: string) => Promise<Answer | undefined>;

const PORT = Number(process.env["PORT"] ?? 4173);
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css",
  ".js": "text/javascript",
};

/**
 * Builds the page of a folder, and serves it at `PORT`, by default 4173. Prints the page's URL.
 * @param backendOf returns the page's backend, from the page's origin
 */
export async function servePage(
  root: string,
  backendOf: (origin: string) => Backend | Promise<Backend>,
): Promise<void> {
  await build({ root, logLevel: "warn" });
  const files = readFiles(path.join(root, "dist"));
  let origin = "";
  let backend: Backend = async () => undefined;

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method, headers } = request;
    const { pathname } = new URL(request.url ?? "/", origin);
    // The sessions are of one origin, so the page has one.
    if (`http://${headers.host}` !== origin) return { status: 302, headers: { location: origin }, body: "" };
    // Another port of this machine is the same site for the cookie.
    if (method === "POST" && headers.origin !== origin) return refusal(403, "OTHER_ORIGIN");
    const answered = await backend(request, pathname);
    if (answered !== undefined) return answered;
    const body = method === "GET" ? files.get(pathname) : undefined;
    const type = TYPES[path.extname(pathname) || ".html"] ?? "text/plain";
    return body ? { status: 200, headers: { "content-type": type }, body } : refusal(404, "NOT_FOUND");
  }

  const server = createServer((request, response) => {
    const send = ({ status, headers, body }: Answer) =>
      response.writeHead(status, { "cache-control": "no-store", ...headers }).end(body);
    answer(request).then(send, (error: unknown) => {
      console.error(error);
      send(refusal(502, error instanceof TssError ? error.reason : "INTERNAL"));
    });
  });
  await once(server.listen(PORT, "127.0.0.1"), "listening");
  const address = server.address();
  origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : PORT}`;
  backend = await backendOf(origin);
  console.log(`Open ${origin}`);
}

export function json(status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

export function refusal(status: number, reason: string): Answer {
  return json(status, { reason });
}

/** Reads the files of a folder, by their paths in a URL. */
function readFiles(folder: string): Map<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const pages = names.filter((name) => path.extname(name) !== "");
  const found = new Map(pages.map((name) => [`/${name}`, readFileSync(path.join(folder, name))]));
  return found.set("/", readFileSync(path.join(folder, "index.html")));
}
