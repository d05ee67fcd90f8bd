import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base64 } from "@scure/base";
import { TssError } from "../errors.ts";

/**
 * Verifies a webhook of the service, or of another sender of Standard Webhooks, and returns its message. Pass the body
 * exactly as it arrived, before any parser. It needs no network and no client, and runs in Node, browsers and workers.
 *
 * @throws {TssError} WEBHOOK_INVALID when a header is missing, no signature fits, the message is too old or from the
 *   future, or the body is no message.
 * @throws {TssError} VALIDATION when the secret or the public key is malformed.
 *
 * @example
 * const { id, type, data } = verifyWebhook({ body: await request.text(), headers: request.headers, secret });
 */
export function verifyWebhook(args: VerifyWebhookArgs): WebhookMessage {
  const { body, headers, toleranceSeconds = 300, now = new Date() } = args;
  const fits = createCheck(args);
  const id = headerOf(headers, "webhook-id");
  const time = headerOf(headers, "webhook-timestamp");
  const signatures = headerOf(headers, "webhook-signature").split(" ");
  if (!/^\d{1,12}$/.test(time)) throw invalid("the header webhook-timestamp is malformed");
  if (signatures.length > SIGNATURES_MAX_COUNT) throw invalid("there are too many signatures");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${time}.`);
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = new Uint8Array(content.length + bytes.length);
  signed.set(content);
  signed.set(bytes, content.length);
  if (!signatures.some((signature) => fits(signature, signed))) throw invalid("no signature fits");
  const sentAt = new Date(Number(time) * 1_000);
  if (Math.abs(now.getTime() - sentAt.getTime()) > toleranceSeconds * 1_000)
    throw invalid("the message is too old, or its time is in the future");
  return { id, sentAt, ...parse(text) };
}

/** Arguments of {@link verifyWebhook}. One of `secret` and `publicKey` is required. */
export interface VerifyWebhookArgs {
  /** The body as it arrived. */
  readonly body: string | Uint8Array;
  /** The headers of the request: `Headers`, or an object with lower-case names as Node has it. */
  readonly headers: WebhookHeaders;
  /** The endpoint's secret: `whsec_` and base64. */
  readonly secret?: string | undefined;
  /** The endpoint's public key, `whpk_` and base64, for a receiver that holds no secret. */
  readonly publicKey?: string | undefined;
  /** How far the time of the message may be from `now`, in seconds. Default 300. */
  readonly toleranceSeconds?: number | undefined;
  /** Default: the current time. */
  readonly now?: Date | undefined;
}

/** The headers of a request. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A verified message. */
export interface WebhookMessage {
  /** The event's id, the same in each attempt: a receiver that has seen it ignores the repeat. */
  readonly id: string;
  /** When this attempt was sent. */
  readonly sentAt: Date;
  /** The kind of the event, such as `sign.completed`. Ignore unknown ones. */
  readonly type: string;
  /** When the event happened, as ISO 8601. */
  readonly timestamp: string;
  /** The facts of the event. */
  readonly data: Readonly<Record<string, string>>;
}

const SIGNATURES_MAX_COUNT = 16;

/** Returns a function that tells whether one entry of the header `webhook-signature` fits. */
function createCheck({
  secret,
  publicKey,
}: Pick<VerifyWebhookArgs, "secret" | "publicKey">): (signature: string, signed: Uint8Array) => boolean {
  if ((secret === undefined) === (publicKey === undefined))
    throw new TssError("VALIDATION", "pass either secret or publicKey");
  if (secret !== undefined) {
    const key = keyOf(secret, "whsec_", "secret");
    return (signature, signed) => isSame(bytesOf(signature, "v1,"), hmac(sha256, key, signed));
  }
  const key = keyOf(publicKey!, "whpk_", "publicKey");
  if (key.length !== 32) throw new TssError("VALIDATION", "publicKey: must be whpk_ and 32 bytes in base64");
  return (signature, signed) => {
    const bytes = bytesOf(signature, "v1a,");
    return bytes?.length === 64 && ed25519.verify(bytes, signed, key, { zip215: false });
  };
}

function keyOf(text: string, prefix: string, name: string): Uint8Array {
  const key = bytesOf(text, prefix);
  if (key === undefined || key.length === 0)
    throw new TssError("VALIDATION", `${name}: must be ${prefix} and base64`);
  return key;
}

function bytesOf(text: string, prefix: string): Uint8Array | undefined {
  if (!text.startsWith(prefix)) return undefined;
  try {
    return base64.decode(text.slice(prefix.length));
  } catch {
    return undefined;
  }
}

/** Compares in a time that does not depend on the content. */
function isSame(a: Uint8Array | undefined, b: Uint8Array): boolean {
  if (a?.length !== b.length) return false;
  let difference = 0;
  for (const [index, byte] of a.entries()) difference |= byte ^ b[index]!;
  return difference === 0;
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = isHeaders(headers) ? headers.get(name) : headers[name];
  if (typeof value !== "string" || value === "") throw invalid(`the header ${name} is missing`);
  return value;
}

function isHeaders(headers: WebhookHeaders): headers is { get(name: string): string | null } {
  return typeof headers["get" as keyof WebhookHeaders] === "function";
}

function parse(text: string): Pick<WebhookMessage, "type" | "timestamp" | "data"> {
  let message: Partial<WebhookMessage> | null;
  try {
    message = JSON.parse(text) as Partial<WebhookMessage> | null;
  } catch {
    throw invalid("the body is not JSON");
  }
  const { type, timestamp, data } = message ?? {};
  if (typeof type !== "string" || typeof timestamp !== "string" || typeof data !== "object" || data === null)
    throw invalid("the body is no message");
  return { type, timestamp, data };
}

function invalid(message: string): TssError {
  return new TssError("WEBHOOK_INVALID", message);
}
