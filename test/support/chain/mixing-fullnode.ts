import { GrpcTypes } from "@mysten/sui/grpc";

/** A wrong answer of a fullnode: it answers another request, or it changes its answer. */
export interface MixUp {
  /** Changes the request in place. */
  question?(question: never): void;
  /** Changes the honest answer in place. */
  answer?(answer: never): void;
}

/** Creates a fetch to a fullnode that mixes up chosen answers, in a fullnode's own encoding. */
export interface MixingFullnode {
  readonly fetch: typeof fetch;
  /** Runs `during` while the answers of one method are mixed up. */
  mixing<T>(method: Method, mixUp: MixUp, during: () => Promise<T>): Promise<T>;
}

type Codec = {
  fromBinary(bytes: Uint8Array): object;
  toBinary(message: never): Uint8Array;
};

const METHODS = {
  BatchGetObjects: [GrpcTypes.BatchGetObjectsRequest, GrpcTypes.BatchGetObjectsResponse],
  GetTransaction: [GrpcTypes.GetTransactionRequest, GrpcTypes.GetTransactionResponse],
  ListOwnedObjects: [GrpcTypes.ListOwnedObjectsRequest, GrpcTypes.ListOwnedObjectsResponse],
  ListDynamicFields: [GrpcTypes.ListDynamicFieldsRequest, GrpcTypes.ListDynamicFieldsResponse],
  GetCoinInfo: [GrpcTypes.GetCoinInfoRequest, GrpcTypes.GetCoinInfoResponse],
  ExecuteTransaction: [GrpcTypes.ExecuteTransactionRequest, GrpcTypes.ExecuteTransactionResponse],
  SimulateTransaction: [GrpcTypes.SimulateTransactionRequest, GrpcTypes.SimulateTransactionResponse],
} as const;

/** The methods of `sui.rpc.v2` whose answers can be mixed up. */
export type Method = keyof typeof METHODS;

export function createMixingFullnode(): MixingFullnode {
  const mixUps = new Map<string, MixUp>();
  return {
    async fetch(input, init) {
      const method = String(input).split("/").at(-1) ?? "";
      const mixUp = mixUps.get(method);
      if (mixUp === undefined) return fetch(input, init);
      const [question, answer] = METHODS[method as Method] as unknown as [Codec, Codec];
      const asked = changed(new Uint8Array(init?.body as Uint8Array), question, mixUp.question);
      const reply = await fetch(input, { ...init, body: asked });
      const body = changed(new Uint8Array(await reply.arrayBuffer()), answer, mixUp.answer);
      return new Response(body, { status: reply.status, headers: reply.headers });
    },
    async mixing(method, mixUp, during) {
      mixUps.set(method, mixUp);
      try {
        return await during();
      } finally {
        mixUps.delete(method);
      }
    },
  };
}

const HEAD_BYTES = 5;

/** Changes the message of a gRPC-web body, which is its first frame, and leaves the trailers. */
function changed(
  body: Uint8Array,
  codec: Codec,
  change: ((message: never) => void) | undefined,
): Uint8Array<ArrayBuffer> {
  const length = new DataView(body.buffer, body.byteOffset).getUint32(1);
  // An error reply has only trailers.
  if (change === undefined || body[0] !== 0) return new Uint8Array(body);
  const message = codec.fromBinary(body.subarray(HEAD_BYTES, HEAD_BYTES + length));
  change(message as never);
  const bytes = codec.toBinary(message as never);
  const rest = body.subarray(HEAD_BYTES + length);
  const whole = new Uint8Array(HEAD_BYTES + bytes.length + rest.length);
  new DataView(whole.buffer).setUint32(1, bytes.length);
  whole.set(bytes, HEAD_BYTES);
  whole.set(rest, HEAD_BYTES + bytes.length);
  return whole;
}
