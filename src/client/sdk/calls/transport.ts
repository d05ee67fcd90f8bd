import { type DescMessage, isMessage, type Message, type MessageShape, toJson } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { TssError } from "../errors.ts";

/**
 * Creates the default transport: Connect with binary messages over fetch, on every platform that has fetch. `prove` may
 * wrap that fetch.
 */
export function createDefaultTransport(
  baseUrl: string,
  prove: (send: typeof fetch) => typeof fetch = (send) => send,
): Transport {
  const transport = createConnectTransport({
    baseUrl,
    useBinaryFormat: true,
    fetch: prove(fetchFromService),
  });
  return {
    unary: transport.unary,
    async stream(method, signal, timeoutMs, header, input, values) {
      // Such a fetch returns a stream's reply only when the stream has ended.
      if (!canStream()) throw new ConnectError("this platform's fetch does not stream", Code.Unimplemented);
      return await transport.stream(method, signal, timeoutMs, header, input, values);
    },
  };
}

/**
 * Adds headers to every call of a transport. A header that the call itself sets takes precedence. Every message of a
 * reply has a `toJSON` that returns protobuf's JSON: without it, `JSON.stringify` throws for a 64-bit integer.
 */
export function withHeaders(transport: Transport, headers: Readonly<Record<string, string>>): Transport {
  const merge = (own: HeadersInit | undefined): Headers => {
    const merged = new Headers(headers);
    new Headers(own).forEach((value, name) => {
      merged.set(name, value);
    });
    return merged;
  };
  return {
    async unary(method, signal, timeoutMs, header, input, values) {
      const reply = await transport.unary(method, signal, timeoutMs, merge(header), input, values);
      addToJson(method.output, reply.message);
      return reply;
    },
    async stream(method, signal, timeoutMs, header, input, values) {
      const reply = await transport.stream(method, signal, timeoutMs, merge(header), input, values);
      return { ...reply, message: withToJson(method.output, reply.message) };
    },
  };
}

async function* withToJson<O extends DescMessage>(
  desc: O,
  messages: AsyncIterable<MessageShape<O>>,
): AsyncGenerator<MessageShape<O>, void> {
  for await (const message of messages) {
    addToJson(desc, message);
    yield message;
  }
}

/** Adds a `toJSON` that no loop over a message's properties sees to a message and to the messages in it. */
function addToJson(desc: DescMessage, message: Message): void {
  Object.defineProperty(message, "toJSON", { value: () => toJson(desc, message), configurable: true });
  for (const field of desc.fields) {
    if (field.message === undefined) continue;
    const value = (message as Message & Readonly<Record<string, unknown>>)[field.localName];
    for (const inner of Array.isArray(value) ? value : [value])
      if (isMessage(inner)) addToJson(field.message, inner);
  }
}

/** React Native's fetch has no streams: there the body of a Response is undefined. */
function canStream(): boolean {
  return new Response("text").body instanceof Object;
}

/**
 * Calls the service with fetch. Throws WRONG_URL for a redirect and for a reply that is not the service's. A redirect is
 * never followed, because the request with the API key would go to another place. The mode is not `error`, which
 * Cloudflare Workers refuse, and which hides the redirect's destination.
 */
async function fetchFromService(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const reply = await fetch(input, { ...init, redirect: "manual" }).catch((cause: unknown) => {
    if (init?.signal?.aborted === true) throw cause;
    // Not every platform throws a TypeError when no reply arrives.
    const text = cause instanceof Error ? cause.message : "fetch failed";
    throw new ConnectError(text, Code.Unavailable, undefined, undefined, cause);
  });
  const refusal = refusalOf(reply, input instanceof Request ? input.url : String(input));
  if (refusal === undefined) return reply;
  reply.body?.cancel().catch(() => {});
  throw refusal;
}

function refusalOf(reply: Response, url: string): TssError | undefined {
  const { ok, status, headers } = reply;
  if (typeOf(reply) === "opaqueredirect" || (status >= 300 && status < 400)) {
    const place = originOf(headers.get("location") ?? "", url);
    return wrongUrl(place === undefined ? "redirects" : `redirects to ${place}`, status);
  }
  // React Native follows every redirect, and does not say so.
  const isElsewhere = reply.url !== "" && originOf(reply.url) !== originOf(url);
  if (reply.redirected ?? isElsewhere) return wrongUrl("redirects", status);
  const type = headers.get("content-type") ?? "";
  const isMissing = status === 404 || status === 405;
  if (ok ? OWN_TYPE.test(type) : !isMissing || ERROR_TYPE.test(type)) return undefined;
  const named = PLAIN_TYPE.exec(type)?.[0] ?? "no content type";
  return wrongUrl(`answers with HTTP ${status} and ${named}`, status);
}

/** The types of the replies to a unary call and to a stream. */
const OWN_TYPE = /^application\/(?:connect\+)?proto$/;
const ERROR_TYPE = /^application\/(?:json|connect\+proto)(?:;|$)/;
/** The part of a content type that is safe to print. */
const PLAIN_TYPE = /^[\w.+-]{1,40}\/[\w.+-]{1,40}/;

function wrongUrl(finding: string, status: number): TssError {
  return new TssError("WRONG_URL", `the base URL is not the service's: it ${finding}`, {
    metadata: { status: String(status) },
  });
}

/** A fetch of Cloudflare's may throw for the type of a reply. */
function typeOf(reply: Response): string | undefined {
  try {
    return reply.type;
  } catch {
    return undefined;
  }
}

/** Returns the scheme, host and port of an http or https URL; undefined for any other text. */
function originOf(url: string, base?: string): string | undefined {
  try {
    const { protocol, host } = new URL(url, base);
    return /^https?:$/.test(protocol) ? `${protocol}//${host}` : undefined;
  } catch {
    return undefined;
  }
}
