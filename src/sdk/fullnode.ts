import type { ClientWithCoreApi } from "@mysten/sui/client";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { type FullnodeObject, readFullnodeObjects } from "../protocol/chain-reader.ts";
import type { Network } from "./names.ts";

/** Connects to a fullnode at a gRPC-web URL. It sends nothing before the first call. */
export function connectFullnode(network: Network, url: string): ConnectedFullnode {
  const client = new SuiGrpcClient({ network, baseUrl: url, format: "binary", fetch: fetchBounded });
  return {
    hintClient: client,
    async chainIdentifier(signal) {
      const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal });
      if (response.chainId === undefined) throw new Error("the fullnode names no chain");
      return response.chainId;
    },
    async position(signal) {
      const { response } = await client.ledgerService.getServiceInfo({}, { abort: signal });
      const { chainId: chainIdentifier, epoch } = response;
      if (chainIdentifier === undefined || epoch === undefined)
        throw new Error("the fullnode names no epoch");
      return { chainIdentifier, epoch };
    },
    objects: (objectIds, signal) => readFullnodeObjects(client.core, objectIds, signal),
  };
}

/** A fullnode. Every call rejects, with any error, when the fullnode does not answer. */
export interface Fullnode {
  /** Returns the digest of its chain's genesis checkpoint, in Base58. */
  chainIdentifier(signal: AbortSignal): Promise<string>;
  /** Returns the chain's identifier and its current epoch. */
  position(signal: AbortSignal): Promise<ChainPosition>;
  /** Returns these objects by id. Missing objects are absent. */
  objects(objectIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, FullnodeObject>>;
}

/** A chain and its current epoch. */
export interface ChainPosition {
  /** The digest of the genesis checkpoint, in Base58. */
  readonly chainIdentifier: string;
  readonly epoch: bigint;
}

export interface ConnectedFullnode extends Fullnode {
  /** The Sui client, for hints that the caller checks. Its answers come from one fullnode. */
  readonly hintClient: ClientWithCoreApi;
}

/**
 * The largest accepted reply. The client asks for 50 chunks of 5 KiB, or for one object, which Sui limits to 250 KiB.
 */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

/** Like fetch, but aborts the reply's body when it exceeds the limit. */
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
