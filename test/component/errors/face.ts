import type { DescMethod, JsonObject } from "@bufbuild/protobuf";
import type { WireReply } from "./wire-reply.ts";

/** A call of the contract, whichever protocol carries it. */
export interface WireCall {
  readonly method: DescMethod;
  /** In protobuf's JSON, by JSON names. Default: empty. */
  readonly request?: JsonObject;
  /** Goes as `authorization: Bearer`. Default: none. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's deadline. Default: none. */
  readonly timeoutMs?: number;
  /** Another server than the face's own. */
  readonly url?: string;
}

/** A client of one protocol. */
export interface Face {
  readonly name: "rest" | "grpc";
  /** Never rejects for a refusal. */
  call(call: WireCall): Promise<WireReply>;
  close(): void;
}
