import type { ClientWithCoreApi } from "@mysten/sui/client";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { type FullnodeObject, readFullnodeObjects } from "../protocol/chain-reader.ts";
import type { Network } from "./names.ts";

/** One fullnode. Every call rejects when it does not answer, with whatever error that gives. */
export interface Fullnode {
  /** The digest of the genesis checkpoint of the chain that it serves, in Base58. */
  chainIdentifier(signal: AbortSignal): Promise<string>;
  /** These objects by id; one that does not exist is absent. */
  objects(objectIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, FullnodeObject>>;
}

/** A fullnode that is reached through the Sui SDK. */
export interface ConnectedFullnode extends Fullnode {
  /** For hints, which their reader checks: what it says is one fullnode's word. */
  readonly hintClient: ClientWithCoreApi;
}

/** The largest reply that is read. The client asks for 50 chunks of 5 KiB, or for one object, which Sui bounds to 250 KiB. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** A fullnode at a gRPC-web URL. Nothing is sent before the first call. */
export function connectFullnode(network: Network, url: string): ConnectedFullnode {
  const client = new SuiGrpcClient({ network, baseUrl: url, format: "binary", fetch: fetchBounded });
  return {
    hintClient: client,
    async chainIdentifier(signal) {
      const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal });
      if (response.chainId === undefined) throw new Error("the fullnode names no chain");
      return response.chainId;
    },
    objects: (objectIds, signal) => readFullnodeObjects(client.core, objectIds, signal),
  };
}

/** Like fetch; the reply's body breaks off when it grows too large. */
async function fetchBounded(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const reply = await fetch(input, init);
  if (reply.body === null) return reply;
  let sizeBytes = 0;
  const bound = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      sizeBytes += chunk.length;
      if (sizeBytes > MAX_REPLY_BYTES) controller.error(new Error("the fullnode's reply is too large"));
      else controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = reply;
  return new Response(reply.body.pipeThrough(bound), { status, statusText, headers });
}
