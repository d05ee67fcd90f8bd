import { readFileSync } from "node:fs";
import { Agent, fetch } from "undici";
import { createRedact } from "../../service/platform/telemetry/redact.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import { readPrivateFile } from "../store/private-file.ts";

/** The API of HashiCorp Vault or OpenBao, which are the same here. */
export interface VaultClient {
  /**
   * Sends one request. Returns the `data` of the answer, or undefined for 404. Throws a {@link VaultError}.
   *
   * @param path without `/v1/`
   */
  call(method: "GET" | "POST", path: string, body?: object): Promise<VaultData | undefined>;
  close(): Promise<void>;
}

/** The `data` of an answer. Vault may be wrong about each part. */
export type VaultData = Readonly<Record<string, unknown>>;

/** Thrown if Vault refuses or does not answer. No message contains a token. */
export class VaultError extends Error {
  override readonly name = "VaultError";
  /** The status of the answer; undefined without one. */
  readonly status: number | undefined;

  constructor(message: string, status?: number) {
    super(message);
    this.status = status;
  }
}

/** Where Vault is, and as whom the signer calls it. */
export interface VaultOptions {
  /** Without a path. */
  readonly url: string;
  readonly login:
    | { readonly kind: "token"; readonly file: string }
    | {
        readonly kind: "kubernetes";
        readonly role: string;
        readonly mount: string;
        readonly jwtFile: string;
      };
  readonly namespace: string | undefined;
  /** The authority of Vault's certificate. Default: those of Node. */
  readonly caFile: string | undefined;
  /** Default 10,000. */
  readonly timeoutMs?: number | undefined;
}

/** Opens the API. Sends nothing before the first call. */
export function openVault({
  url,
  login,
  namespace,
  caFile,
  timeoutMs = TIMEOUT_MS,
}: VaultOptions): VaultClient {
  const agent = new Agent({
    connections: MAX_CONNECTIONS,
    ...(caFile && { connect: { ca: readFileSync(caFile, "utf8") } }),
  });
  let loggedIn: Promise<string> | undefined;

  /** An agent may replace the file of a token at any time, so each call reads it. */
  function token(): Promise<string> {
    if (login.kind === "token") return Promise.resolve(readToken(login.file));
    loggedIn ??= logIn(login).catch((error: unknown) => {
      loggedIn = undefined;
      throw error;
    });
    return loggedIn;
  }

  async function logIn({ role, mount, jwtFile }: Kubernetes): Promise<string> {
    const jwt = readFileSync(jwtFile, "utf8").trim();
    const { auth } = await send("POST", `auth/${mount}/login`, { role, jwt }, undefined);
    const { client_token: made } = (auth ?? {}) as { readonly client_token?: unknown };
    if (typeof made !== "string" || !TOKEN.test(made)) throw new VaultError("Vault's login returns no token");
    return made;
  }

  async function send(method: string, path: string, body: object | undefined, sent: string | undefined) {
    const { status, text } = await exchange(method, path, body, sent);
    let answer: { readonly data?: unknown; readonly auth?: unknown; readonly errors?: unknown } = {};
    try {
      answer = (JSON.parse(text || "{}") ?? {}) as typeof answer;
    } catch {
      if (status === 200) throw new VaultError("Vault answers with something else than JSON", status);
    }
    if (status === 200 || status === 204 || status === 404) return { status, ...answer };
    const errors = Array.isArray(answer.errors) ? answer.errors.map(String).join("; ") : "";
    const hidden = [sent, (body as { readonly jwt?: string } | undefined)?.jwt];
    const secrets = hidden.filter((one) => one !== undefined).map((one) => new Secret(one));
    const told = createRedact(secrets)(errors).slice(0, MAX_TEXT_CHARACTERS);
    const known = MEANING.get(status) ?? "answers";
    throw new VaultError(`Vault ${known} (${status})${told && `: ${told}`}`, status);
  }

  async function exchange(method: string, path: string, body: object | undefined, sent: string | undefined) {
    try {
      const reply = await fetch(`${url}/v1/${path}`, {
        method,
        headers: {
          "x-vault-request": "true",
          ...(body && { "content-type": "application/json" }),
          ...(sent && { "x-vault-token": sent }),
          ...(namespace && { "x-vault-namespace": namespace }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        // A redirect would carry the token to another place.
        redirect: "manual",
        signal: AbortSignal.timeout(timeoutMs),
        dispatcher: agent,
      });
      return { status: reply.status, text: await boundedText(reply.body ?? []) };
    } catch (cause) {
      if (cause instanceof VaultError) throw cause;
      const isLate = cause instanceof Error && cause.name === "TimeoutError";
      throw new VaultError(`Vault does not answer${isLate ? ` within ${timeoutMs} ms` : codeOf(cause)}`);
    }
  }

  return {
    async call(method, path, body) {
      const first = await token();
      let answer: Awaited<ReturnType<typeof send>>;
      try {
        answer = await send(method, path, body, first);
      } catch (error) {
        // The token of a login ends after some time.
        const isEnded = error instanceof VaultError && error.status === 403 && login.kind === "kubernetes";
        if (!isEnded) throw error;
        loggedIn = undefined;
        answer = await send(method, path, body, await token());
      }
      if (answer.status === 404 && !isObject(answer.data)) return undefined;
      return isObject(answer.data) ? answer.data : {};
    },
    close: () => agent.close(),
  };
}

type Kubernetes = Extract<VaultOptions["login"], { readonly kind: "kubernetes" }>;

const TOKEN = /^[!-~]{1,4096}$/;
const TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 16;
/** The list of 10,000 names has about 2 MB. */
const MAX_REPLY_BYTES = 8 * 1024 * 1024;
const MAX_TEXT_CHARACTERS = 300;
const MEANING: ReadonlyMap<number, string> = new Map([
  [307, "redirects, and the signer does not follow: name the active node, or what is before it"],
  [403, "refuses the token, or its policy lacks this path"],
  [429, "has too many requests"],
  [503, "is sealed or in maintenance"],
]);

/** Returns true for an object of JSON. */
export function isObject(value: unknown): value is VaultData {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function readToken(file: string): string {
  const token = readPrivateFile(file, "Vault's token");
  if (!TOKEN.test(token)) throw new VaultError(`the file of Vault's token, ${file}, has something else`);
  return token;
}

/** Without it, nobody knows whether the name, the port or the certificate is wrong. A message may have the token. */
function codeOf(error: unknown): string {
  const { code } = ((error as Error | undefined)?.cause ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^[A-Z0-9_]{1,64}$/.test(code) ? ` (${code})` : "";
}

async function boundedText(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of body) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_REPLY_BYTES)
      throw new VaultError(`Vault answers with more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
