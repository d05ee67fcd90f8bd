import type { Secret } from "../../service/platform/telemetry/secret.ts";
import { RPC_CODES, RpcError } from "./rpc-error.ts";

/** The configured node of Ethereum. Its replies are hints: the signer compares its chain, and bounds the fees. */
export interface EthereumNode {
  /** Calls the node. Throws an RpcError: the node's own, or one that says why there is no reply. */
  call(method: string, params: readonly unknown[], signal: AbortSignal): Promise<unknown>;
}

/** Opens the node at a URL. Sends nothing before the first call. */
export function openEthereumNode(url: Secret, maxCalls = MAX_CALLS): EthereumNode {
  let runningCount = 0;
  return {
    async call(method, params, signal) {
      if (runningCount >= maxCalls) throw unavailable(`has ${maxCalls} calls under way`);
      runningCount++;
      try {
        const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
        return resultOf(await post(url.reveal(), { jsonrpc: "2.0", id: 1, method, params }, within));
      } finally {
        runningCount--;
      }
    },
  };
}

const MAX_CALLS = 64;
const TIMEOUT_MS = 30_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
const MAX_TEXT_CHARACTERS = 500;

async function post(url: string, request: object, signal: AbortSignal): Promise<unknown> {
  try {
    const reply = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(request),
      // A redirect would carry a key of the URL to another place.
      redirect: "manual",
      signal,
    });
    return JSON.parse(await boundedText(reply));
  } catch (cause) {
    // The cause may contain the URL, which may contain a key.
    throw cause instanceof RpcError ? cause : unavailable("does not answer");
  }
}

async function boundedText(reply: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let sizeBytes = 0;
  for await (const chunk of reply.body ?? []) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_REPLY_BYTES) throw unavailable(`answers with more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function resultOf(reply: unknown): unknown {
  const { result, error } = (reply ?? {}) as {
    readonly result?: unknown;
    readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
  };
  if (error === undefined || error === null) {
    if (result === undefined) throw unavailable("answers with something else than JSON-RPC");
    return result;
  }
  const code = Number.isInteger(error.code) ? Number(error.code) : RPC_CODES.failed;
  throw new RpcError(code, String(error.message).slice(0, MAX_TEXT_CHARACTERS), error.data);
}

function unavailable(why: string): RpcError {
  return new RpcError(RPC_CODES.failed, `the Ethereum node ${why}`, { reason: "ETHEREUM_UNAVAILABLE" });
}
