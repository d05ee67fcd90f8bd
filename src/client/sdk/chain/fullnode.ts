import type { ClientWithCoreApi } from "@mysten/sui/client";
import { SuiGrpcClient } from "@mysten/sui/grpc";
import { type FullnodeObject, readFullnodeObjects } from "../../../protocol/chain/chain-reader.ts";
import { HTTP2_SETTINGS, withNativeGrpc } from "../../../protocol/chain/native-grpc.ts";
import { nodeHttp2 } from "../../crypto/engines/engine-thread.ts";
import type { Network } from "../names.ts";

/** Connects to a fullnode at a URL of gRPC-web or, in Node, of native gRPC. It sends nothing before the first call. */
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
    async tablePage({ tableId, cursor, hasValues }, signal) {
      const page = { parentId: tableId, cursor, limit: PAGE_SIZE, signal };
      const reply = hasValues
        ? await client.listDynamicFields({ ...page, include: { value: true } })
        : await client.listDynamicFields(page);
      return {
        entries: reply.dynamicFields.map((field) => ({
          name: field.name.bcs,
          value: "value" in field ? field.value?.bcs : undefined,
        })),
        cursor: reply.hasNextPage ? reply.cursor : null,
      };
    },
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
  /** Returns one page of a table's entries. They are hints that the caller checks. */
  tablePage(request: TablePageRequest, signal: AbortSignal): Promise<TablePage>;
  /** The Sui client, for hints that the caller checks. Its answers come from one fullnode. */
  readonly hintClient: ClientWithCoreApi;
}

/** Which page of a table to list. */
interface TablePageRequest {
  readonly tableId: string;
  /** Null for the first page. */
  readonly cursor: string | null;
  /** Whether the entries have values. The value of an object table's entry is the whole object. */
  readonly hasValues: boolean;
}

/** A page of a table. */
export interface TablePage {
  readonly entries: readonly TableEntry[];
  /** Null after the last page. */
  readonly cursor: string | null;
}

/** An entry of a table, in BCS. */
export interface TableEntry {
  readonly name: Uint8Array;
  /** Undefined if the caller asked for no values. */
  readonly value: Uint8Array | undefined;
}

/** The number of entries in a page. Entries with values of a Treasury's table have about 0.3 KiB. */
const PAGE_SIZE = 500;

/**
 * The largest accepted reply. The client asks for 50 chunks of 5 KiB, or for one object, which Sui limits to 250 KiB.
 */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;

const native = withNativeGrpc(
  (input, init) => fetch(input, init),
  (origin) => {
    const http2 = nodeHttp2();
    if (http2 === undefined) throw new TypeError("a URL of native gRPC needs Node");
    return http2.connect(origin, { settings: HTTP2_SETTINGS });
  },
);

/** Like fetch, but ends the reply's body with an error when it exceeds the limit, and takes URLs of native gRPC. */
export async function fetchBounded(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const reply = await native.fetch(input, init);
  const { status, statusText, headers } = reply;
  // The Sui client reads these fields, and a body that is a stream or an async iterable.
  return { status, statusText, headers, body: boundedBody(reply) } as unknown as Response;
}

async function* boundedBody(reply: Response): AsyncGenerator<Uint8Array, void> {
  let sizeBytes = Number(reply.headers.get("content-length") ?? 0);
  const tooLarge = (): boolean => sizeBytes > MAX_REPLY_BYTES;
  const error = new Error("the fullnode's reply is too large");
  if (tooLarge()) throw error;
  // React Native's fetch has no streams: there the body is undefined.
  if (reply.body === null || reply.body === undefined) {
    const bytes = new Uint8Array(await reply.arrayBuffer());
    sizeBytes = bytes.length;
    if (tooLarge()) throw error;
    yield bytes;
    return;
  }
  const reader = reply.body.getReader();
  try {
    sizeBytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      sizeBytes += value.length;
      if (tooLarge()) throw error;
      yield value;
    }
  } finally {
    // Has no effect on a body that was read to its end.
    await reader.cancel();
  }
}
