import { createRegistry, fromBinary, fromJson, type JsonValue, type Message } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../gen/proto/google/rpc/error_details_pb.ts";
import { type Status, StatusSchema } from "../../../gen/proto/google/rpc/status_pb.ts";

/** How a call ended, read from the wire by nothing of the server's own. */
export interface WireReply {
  /** The RPC code; 0 for success. */
  readonly code: number;
  readonly httpStatus: number;
  /** Head and trailers together. */
  readonly headers: Headers;
  readonly message: string;
  /** Of the ErrorInfo; undefined where there is none. */
  readonly reason: string | undefined;
  readonly domain: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that the BadRequest names. */
  readonly fields: readonly string[];
  /** Of the RetryInfo. */
  readonly retryDelaySeconds: number | undefined;
  /** Everything that came, for a search in it. */
  readonly text: string;
}

/** What came, before its status is read. */
export interface RawReply {
  readonly httpStatus: number;
  readonly headers: Headers;
  /** Undefined for success. */
  readonly status: Status | undefined;
  readonly text: string;
}

const REGISTRY = createRegistry(ErrorInfoSchema, BadRequestSchema, RetryInfoSchema);

/** Takes the details out of a reply's status. */
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

/** A google.rpc.Status in JSON. Throws for what is none, an unknown detail included. */
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
