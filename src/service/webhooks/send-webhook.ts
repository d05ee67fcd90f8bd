import { lookup, Resolver } from "node:dns/promises";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import { hostOf, pinnedTo, readOutsideUrl } from "../access/identity/outside-url.ts";
import { isPublicAddress } from "../access/identity/public-address.ts";

/**
 * Creates a sender of requests that a project's URL cannot aim at the inside of the service's network. It resolves the host
 * once, refuses it if any of its addresses is not public, and connects to exactly these addresses, so that a later answer
 * of DNS has no effect. It follows no redirect, uses no proxy, reads nothing of the reply but its headers, and bounds the
 * time of everything together.
 */
export function createWebhookSender(options: WebhookSenderOptions = {}): WebhookSender {
  const { allowsInside = false, resolve = allowsInside ? resolveInside : resolveOutside } = options;
  const { ca, timeoutMs = SEND_TIMEOUT_MS } = options;
  return async ({ url: text, headers, body }) => {
    const url = readOutsideUrl(text, { allowsInside });
    if (url === undefined) return { error: "the URL is not allowed" };
    const controller = new AbortController();
    const { signal } = controller;
    const timedOut = new Promise<SendResult>((resolve) => {
      signal.addEventListener("abort", () => resolve({ error: "it took too long" }), { once: true });
    });
    const timer = setTimeout(() => controller.abort(), timeoutMs);
    try {
      return await Promise.race([
        timedOut,
        post(url, { headers, body }, { allowsInside, resolve, ca, signal }),
      ]);
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Posts a request. Never rejects. */
export type WebhookSender = (request: WebhookRequest) => Promise<SendResult>;

/** A request to an endpoint. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The status of the reply, or why there is none. The project sees it. */
export type SendResult = { readonly status: number } | { readonly error: string };

/** Options of {@link createWebhookSender}. */
export interface WebhookSenderOptions {
  /** True if URLs may use http and name addresses that are not public, for development. Default false. */
  readonly allowsInside?: boolean;
  /** Returns all addresses of a host. Default: DNS, and the system's resolver if inside addresses are allowed. */
  readonly resolve?: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  /** Certificates in PEM to trust instead of the default ones. */
  readonly ca?: string | undefined;
  /** The time for a whole request. Default {@link SEND_TIMEOUT_MS}. */
  readonly timeoutMs?: number;
}

/** The longest time that a request takes. */
export const SEND_TIMEOUT_MS = 10_000;
const HEADERS_MAX_BYTES = 16 * 1_024;

async function post(
  url: URL,
  { headers, body }: Pick<WebhookRequest, "headers" | "body">,
  { allowsInside, resolve, ca, signal }: PostOptions,
): Promise<SendResult> {
  const host = hostOf(url);
  let addresses: readonly string[];
  try {
    addresses = isIP(host) === 0 ? await resolve(host, signal) : [host];
  } catch {
    addresses = [];
  }
  if (addresses.length === 0) return { error: "the host has no address" };
  if (!allowsInside && !addresses.every(isPublicAddress))
    return { error: "the host has an address that is not public" };
  const open = url.protocol === "https:" ? requestHttps : requestHttp;
  return new Promise((done) => {
    if (signal.aborted) return done({ error: "it took too long" });
    const request = open(url, {
      method: "POST",
      // A connection that is used once, and no proxy of the environment.
      agent: false,
      lookup: pinnedTo(addresses),
      headers: { ...headers, "content-length": String(Buffer.byteLength(body)) },
      maxHeaderSize: HEADERS_MAX_BYTES,
      signal,
      ...(ca !== undefined && { ca }),
    });
    request.on("error", (error: NodeJS.ErrnoException) => done({ error: describe(error) }));
    request.on("response", (response) => {
      done({ status: response.statusCode ?? 0 });
      // The body could be endless.
      response.destroy();
    });
    request.end(body);
  });
}

interface PostOptions {
  readonly allowsInside: boolean;
  readonly resolve: (host: string, signal: AbortSignal) => Promise<readonly string[]>;
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
}

/** Returns the failure in words, without a text of the receiver. */
function describe({ code }: NodeJS.ErrnoException): string {
  return code !== undefined && /^[A-Z0-9_]{1,48}$/.test(code)
    ? `the connection failed: ${code}`
    : "the connection failed";
}

/** Asks DNS without the threads of the system's resolver, so that a slow name server occupies none of them. */
async function resolveOutside(host: string, signal: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: DNS_TRIES });
  const cancel = () => resolver.cancel();
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const found = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
    return found.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

const DNS_TIMEOUT_MS = 2_000;
const DNS_TRIES = 2;

async function resolveInside(host: string): Promise<string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
