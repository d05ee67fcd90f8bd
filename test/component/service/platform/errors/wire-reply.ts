import { createRegistry, fromBinary, fromJson, type JsonValue, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../../../gen/proto/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../../../../gen/proto/google/rpc/status_pb.ts";

/** The outcome of a call, read from the wire without the server's own code. */
export interface WireReply {
  /** The RPC code; 0 for success. */
  readonly code: number;
  readonly httpStatus: number;
  /** The head and the trailers together. */
  readonly headers: Headers;
  readonly message: string;
  /** The reason in the ErrorInfo; undefined without one. */
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields in the BadRequest. */
  readonly fields: readonly string[];
  /** The delay in the RetryInfo. */
  readonly retryDelaySeconds: number | undefined;
  /** The whole reply, for a search in it. */
  readonly text: string;
}

/** The reply before its status is decoded. */
export interface RawReply {
  readonly httpStatus: number;
  readonly headers: Headers;
  /** Undefined for success. */
  readonly status: Status | undefined;
  readonly text: string;
}

const REGISTRY = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);

/** Decodes the details of a reply's status. */
export function toWireReply({ status, ...raw }: RawReply): WireReply {
  const details = (status?.details ?? []).map((any) => anyUnpack(any, REGISTRY));
  const info = details.find((detail) => isOf(detail, ErrorInfoSchema.typeName)) as
    | { reason: string; domain: string; metadata: Record<string, string> }
    | undefined;
  const fields = details.find((detail) => isOf(detail, BadRequestSchema.typeName)) as
    | { fieldViolations: { field: string }[] }
    | undefined;
  const retry = details.find((detail) => isOf(detail, RetryInfoSchema.typeName)) as
    | { retryDelay?: { seconds: bigint; nanos: number } }
    | undefined;
  const delay = retry?.retryDelay;
  return {
    ...raw,
    code: status?.code ?? 0,
    message: status?.message ?? "",
    reason: info?.reason,
    domain: info?.domain,
    metadata: info?.metadata ?? {},
    fields: (fields?.fieldViolations ?? []).map(({ field }) => field),
    retryDelaySeconds: delay && Number(delay.seconds) + delay.nanos / 1e9,
  };
}

/** Decodes a google.rpc.Status in JSON. Throws for anything else, including an unknown detail. */
export function statusOfJson(json: JsonValue): Status {
  return fromJson(StatusSchema, json, { registry: REGISTRY });
}

/** The bytes of `grpc-status-details-bin`. */
export function statusOfBinary(bytes: Uint8Array): Status {
  return fromBinary(StatusSchema, bytes);
}

function isOf(detail: Message | undefined, typeName: string): boolean {
  return detail?.$typeName === typeName;
}
