import { RPC_CODES, RpcError } from "./rpc-error.ts";

/**
 * Answers a body of JSON-RPC 2.0: one call, or a batch of up to 20, which run one after the other. `call` answers one
 * call, and `explain` converts its failure. Returns undefined if every call is a notification.
 */
export async function serveJsonRpc(
  body: Uint8Array,
  call: RpcHandler,
  explain: (error: unknown) => RpcError,
): Promise<string | undefined> {
  let request: unknown;
  try {
    request = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    return JSON.stringify(failure(null, new RpcError(RPC_CODES.malformedJson, "the body is not JSON")));
  }
  if (!Array.isArray(request)) {
    const reply = await answer(request, call, explain);
    return reply && JSON.stringify(reply);
  }
  if (request.length === 0 || request.length > MAX_BATCH_COUNT) {
    const error = new RpcError(RPC_CODES.malformedRequest, `a batch has 1 to ${MAX_BATCH_COUNT} calls`);
    return JSON.stringify(failure(null, error));
  }
  const replies: object[] = [];
  for (const each of request) {
    const reply = await answer(each, call, explain);
    if (reply !== undefined) replies.push(reply);
  }
  return replies.length === 0 ? undefined : JSON.stringify(replies);
}

/** Answers one call. Throws an RpcError, or another error that its caller converts. */
export type RpcHandler = (method: string, params: readonly unknown[]) => Promise<unknown>;

const MAX_BATCH_COUNT = 20;

async function answer(
  request: unknown,
  call: RpcHandler,
  explain: (error: unknown) => RpcError,
): Promise<object | undefined> {
  const { jsonrpc, method, params = [], id } = (request ?? {}) as Readonly<Record<string, unknown>>;
  const isCall = jsonrpc === "2.0" && typeof method === "string" && Array.isArray(params);
  const isKnownId = id === undefined || id === null || typeof id === "string" || typeof id === "number";
  if (!isCall || !isKnownId) {
    const text = "a call has jsonrpc 2.0, a method, an array of params, and an id";
    return failure(null, new RpcError(RPC_CODES.malformedRequest, text));
  }
  let reply: object;
  try {
    reply = { jsonrpc: "2.0", id, result: (await call(method, params)) ?? null };
  } catch (error) {
    reply = failure(id, explain(error));
  }
  return id === undefined ? undefined : reply;
}

function failure(id: unknown, { code, message, data }: RpcError): object {
  return { jsonrpc: "2.0", id, error: { code, message, ...(data !== undefined && { data }) } };
}
