import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/** A server that follows the documented API of HashiCorp Vault: KV version 2, Transit, and the login by Kubernetes. */
export interface FakeVault {
  readonly url: string;
  /** The tokens that it accepts. A login adds one. */
  readonly tokens: Set<string>;
  /** The versions of each entry, by `<mount>/<path>`. A deleted version is null. */
  readonly entries: Map<string, (Record<string, unknown> | null)[]>;
  /** Method and path of each request, in order. */
  readonly calls: string[];
  /** The headers of the last request. */
  lastHeaders: http.IncomingHttpHeaders;
  /** Runs at the next request of this method and path, instead of it. Returning undefined never answers. */
  atNext(call: RegExp, act: Interference): void;
  close(): Promise<void>;
}

type Interference = (pass: () => Promise<Reply>) => Promise<Reply | undefined>;

interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: http.OutgoingHttpHeaders;
}

/** Starts the server, over TLS if it has a certificate. */
export async function startFakeVault(tls?: {
  readonly cert: string;
  readonly key: string;
}): Promise<FakeVault> {
  const transitKey = randomBytes(32);
  const waiting: { readonly call: RegExp; readonly act: Interference }[] = [];
  const vault = {
    tokens: new Set(["root-token-of-the-tests"]),
    entries: new Map<string, (Record<string, unknown> | null)[]>(),
    calls: [] as string[],
    lastHeaders: {} as http.IncomingHttpHeaders,
    atNext: (call: RegExp, act: Interference) => void waiting.push({ call, act }),
  };

  async function answer(request: http.IncomingMessage, body: Body): Promise<Reply> {
    const { pathname, searchParams } = new URL(request.url!, "http://vault");
    const [, first, second, ...rest] = pathname.split("/").slice(1).map(decodeURIComponent);
    if (pathname === "/v1/auth/kubernetes/login") {
      if (body.jwt !== "jwt-of-the-tests" || body.role !== "signer") return refusal(403, "permission denied");
      const token = `login-${randomBytes(16).toString("hex")}`;
      vault.tokens.add(token);
      return { status: 200, body: { auth: { client_token: token, lease_duration: 3600 } } };
    }
    if (!vault.tokens.has(String(request.headers["x-vault-token"]))) return refusal(403, "permission denied");
    const path = `${first}/${rest.join("/")}`;
    if (second === "data") return request.method === "GET" ? read(path) : write(path, body);
    if (second === "metadata" && searchParams.get("list") === "true") return list(`${path}/`);
    if (second === "encrypt" || second === "decrypt") return transit(second, body);
    return refusal(404);
  }

  function read(path: string): Reply {
    const versions = vault.entries.get(path);
    if (versions === undefined) return refusal(404);
    const data = versions.at(-1)!;
    const metadata = { version: versions.length, destroyed: false };
    return { status: data === null ? 404 : 200, body: { data: { data, metadata } } };
  }

  function write(path: string, { data, options }: Body): Reply {
    const versions = vault.entries.get(path) ?? [];
    if (options?.cas !== undefined && options.cas !== versions.length)
      return refusal(400, "check-and-set parameter did not match the current version");
    vault.entries.set(path, [...versions, data ?? {}]);
    return { status: 200, body: { data: { version: versions.length + 1 } } };
  }

  function list(folder: string): Reply {
    const names = [...vault.entries.keys()].filter((each) => each.startsWith(folder));
    const keys = names.map((each) => each.slice(folder.length));
    return keys.length === 0 ? refusal(404) : { status: 200, body: { data: { keys } } };
  }

  function transit(action: "encrypt" | "decrypt", body: Body): Reply {
    const aad = Buffer.from(body.associated_data ?? "", "base64");
    if (action === "encrypt") {
      const nonce = randomBytes(12);
      const cipher = createCipheriv("aes-256-gcm", transitKey, nonce).setAAD(aad);
      const sealed = [cipher.update(Buffer.from(body.plaintext ?? "", "base64")), cipher.final()];
      const ciphertext = `vault:v1:${Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString("base64")}`;
      return { status: 200, body: { data: { ciphertext } } };
    }
    const octets = Buffer.from((body.ciphertext ?? "").replace("vault:v1:", ""), "base64");
    const decipher = createDecipheriv("aes-256-gcm", transitKey, octets.subarray(0, 12)).setAAD(aad);
    decipher.setAuthTag(octets.subarray(-16));
    try {
      const plain = Buffer.concat([decipher.update(octets.subarray(12, -16)), decipher.final()]);
      return { status: 200, body: { data: { plaintext: plain.toString("base64") } } };
    } catch {
      return refusal(400, "cipher: message authentication failed");
    }
  }

  const serve = async (request: http.IncomingMessage, reply: http.ServerResponse) => {
    const body = request.method === "POST" ? ((await json(request)) as Body) : {};
    const call = `${request.method} ${request.url}`;
    vault.calls.push(call);
    vault.lastHeaders = request.headers;
    const at = waiting.findIndex((each) => each.call.test(call));
    const pass = () => answer(request, body);
    const found = at < 0 ? await pass() : await waiting.splice(at, 1)[0]!.act(pass);
    if (found === undefined) return;
    const text = typeof found.body === "string" ? found.body : JSON.stringify(found.body ?? {});
    reply.writeHead(found.status, { "content-type": "application/json", ...found.headers }).end(text);
  };
  const listener = (request: http.IncomingMessage, reply: http.ServerResponse) =>
    void serve(request, reply).catch(() => reply.destroy());
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return Object.assign(vault, {
    url: `${tls === undefined ? "http" : "https"}://localhost:${port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  });
}

interface Body {
  readonly data?: Record<string, unknown>;
  readonly options?: { readonly cas?: number };
  readonly plaintext?: string;
  readonly ciphertext?: string;
  readonly associated_data?: string;
  readonly jwt?: string;
  readonly role?: string;
}

function refusal(status: number, ...errors: string[]): Reply {
  return { status, body: { errors } };
}
