import { lookup } from "node:dns/promises";
import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP } from "node:net";
import type { JSONWebKeySet } from "jose";
import { hostOf, pinnedTo, readOutsideUrl } from "./outside-url.ts";
import { isPublicAddress } from "./public-address.ts";
import { readKeySet } from "./read-key-set.ts";

/**
 * Creates a download of key sets that a project's URL cannot aim at the inside of the service's network. It resolves the
 * host once, refuses it if any of its addresses is not public, and connects to exactly these addresses, so that a later
 * answer of DNS has no effect. It follows no redirect, uses no proxy, and bounds the time, the size and the number of
 * downloads at once. Rejects with {@link KeySetUnavailable}.
 */
export function createKeySetFetch(options: KeySetFetchOptions = {}): KeySetFetch {
  const { allowsInside = false, resolve = resolveHost, ca, timeoutMs = TIMEOUT_MS } = options;
  let lookUpCount = 0;
  let runningCount = 0;
  return async (text) => {
    const url = readOutsideUrl(text, { allowsInside });
    if (url === undefined) throw new KeySetUnavailable("the URL is not allowed");
    if (lookUpCount >= LOOK_UPS_MAX_COUNT || runningCount >= DOWNLOADS_MAX_COUNT) throw new DownloadsBusy();
    lookUpCount++;
    runningCount++;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(new KeySetUnavailable("it took too long")), timeoutMs);
    const lookingUp = (async () => resolve(hostOf(url)))();
    const work = (async () => {
      const addresses = await lookingUp;
      if (addresses.length === 0) throw new KeySetUnavailable("the host has no address");
      if (!allowsInside && !addresses.every(isPublicAddress))
        throw new KeySetUnavailable("the host has an address that is not public");
      controller.signal.throwIfAborted();
      return readKeySet(await download(url, addresses, ca, controller.signal));
    })();
    // The system's resolver cannot be cancelled and occupies a thread, so it counts until it ends.
    onEnd(lookingUp, () => lookUpCount--);
    onEnd(work, () => runningCount--);
    try {
      return await Promise.race([work, aborted(controller.signal)]);
    } catch (error) {
      throw error instanceof KeySetUnavailable
        ? error
        : new KeySetUnavailable("the download failed", { cause: error });
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Downloads the key set at a URL. Resolves with its usable keys, at least one. Rejects with {@link KeySetUnavailable}. */
export type KeySetFetch = (url: string) => Promise<JSONWebKeySet>;

/** Options of {@link createKeySetFetch}. */
export interface KeySetFetchOptions {
  /** True if URLs may use http and name addresses that are not public, for development. Default false. */
  readonly allowsInside?: boolean;
  /** Returns all addresses of a host. Default: the system's resolver. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Certificates in PEM to trust instead of the default ones. */
  readonly ca?: string;
  /** The time for a whole download. Default 5 seconds. */
  readonly timeoutMs?: number;
}

/** A key set that could not be downloaded. The message is for the log: it tells what is inside the network. */
export class KeySetUnavailable extends Error {
  override readonly name: string = "KeySetUnavailable";
}

/** Too many other downloads are running, so the provider was not asked. */
export class DownloadsBusy extends KeySetUnavailable {
  override readonly name = "DownloadsBusy";
  constructor() {
    super("too many downloads are running");
  }
}

const TIMEOUT_MS = 5_000;
const KEY_SET_MAX_BYTES = 64 * 1_024;
/** Half of Node's threads for the resolver and for cryptography stay free. */
const LOOK_UPS_MAX_COUNT = 2;
/** A download takes no thread, so slow providers of some projects leave room for the others. */
const DOWNLOADS_MAX_COUNT = 16;

async function resolveHost(host: string): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

function onEnd(work: Promise<unknown>, release: () => void): void {
  work.then(release, release);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const fail = () => reject(signal.reason as Error);
    if (signal.aborted) fail();
    signal.addEventListener("abort", fail, { once: true });
  });
}

async function download(
  url: URL,
  addresses: readonly string[],
  ca: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const send = url.protocol === "https:" ? requestHttps : requestHttp;
  const request = send(url, {
    // A connection that is used once and no proxy of the environment.
    agent: false,
    lookup: pinnedTo(addresses),
    headers: { accept: "application/json", "accept-encoding": "identity" },
    maxHeaderSize: 16 * 1_024,
    signal,
    ...(ca !== undefined && { ca }),
  });
  try {
    return await readBody(await responseTo(request));
  } catch (error) {
    request.destroy();
    throw error;
  }
}

/** Sends a request. Rejects too if it only closes, as after a reply that switches protocols: Node reports no error then. */
function responseTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on("response", resolve);
    request.on("error", reject);
    request.on("close", () => reject(new KeySetUnavailable("the connection was closed without a reply")));
    request.end();
  });
}

async function readBody(response: IncomingMessage): Promise<string> {
  if (response.statusCode !== 200)
    throw new KeySetUnavailable(`the reply has the status ${response.statusCode}`);
  const chunks: Buffer[] = [];
  let byteCount = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    byteCount += chunk.length;
    if (byteCount > KEY_SET_MAX_BYTES) throw new KeySetUnavailable("the key set is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
