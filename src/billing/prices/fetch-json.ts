import { type Clock, startDeadline } from "../../lifecycle/clock.ts";

/**
 * Fetches JSON from a price source. Rejects on a status other than 2xx, a redirect, more than 64 KiB, a timeout, and
 * invalid JSON. The errors do not contain the URL, which may hold a key.
 */
export async function fetchJson(
  url: string,
  signal: AbortSignal,
  options: FetchJsonOptions,
): Promise<unknown> {
  const deadline = startDeadline(options.clock, options.timeoutMs ?? TIMEOUT_MS);
  const signals = AbortSignal.any([signal, deadline.signal]);
  const text = await getText(url, options, signals).finally(deadline.clear);
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the source responds with something other than JSON");
  }
}

const MAX_BYTES = 65_536;
const TIMEOUT_MS = 10_000;

/** Options of {@link fetchJson}. */
export interface FetchJsonOptions {
  readonly clock: Clock;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
}

async function getText(
  url: string,
  { headers = {}, fetch: send = fetch }: FetchJsonOptions,
  signal: AbortSignal,
): Promise<string> {
  const response = await send(url, {
    // Coinbase refuses requests without a user agent.
    headers: { accept: "application/json", "user-agent": "threshold-signing-service", ...headers },
    redirect: "error",
    signal,
  });
  if (!response.ok) {
    await response.body?.cancel();
    throw new Error(`the source responds with ${response.status}`);
  }
  return boundedText(response);
}

async function boundedText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BYTES) throw new Error(`the source responds with more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
