import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { WireReply } from "./wire-reply.ts";

/** A call of the contract, independent of the protocol that carries it. */
export interface WireCall {
  readonly method: DescMethod;
  /** In protobuf's JSON, with JSON names. Default: empty. */
  readonly request?: JsonObject;
  /** Sent as `authorization: Bearer`. Default: none. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's deadline. Default: none. */
  readonly timeoutMs?: number;
  /** A server other than the client's own. */
  readonly url?: string;
}

/** A client of one protocol. */
export interface ProtocolClient {
  readonly name: "rest" | "grpc" | "connect" | "grpc-web";
  /** Resolves for a refusal as well. */
  call(call: WireCall): Promise<WireReply>;
  close(): void;
}
