import { create, type DescMessage, type JsonValue, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import { Code, type ConnectError } from "@connectrpc/connect";
import type { ServerReply } from "../http/node-http.ts";

/** A request that the transport itself refuses, before any handler. The message is public. */
export class TransportError extends Error {
  override readonly name = "TransportError";
  readonly fault: TransportFault;
  readonly violations: readonly RequestViolation[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(fault: TransportFault, publicMessage: string, options: TransportErrorOptions = {}) {
    super(publicMessage, options.cause === undefined ? undefined : { cause: options.cause });
    this.fault = fault;
    this.violations = options.violations ?? [];
    this.headers = options.headers ?? {};
  }
}

/** An invalid part of the request. `field` is a path in proto names. */
export interface RequestViolation {
  readonly field: string;
  readonly description: string;
}

/** The faults that the transport itself reports. */
export type TransportFault =
  | "ROUTE_NOT_FOUND"
  | "METHOD_NOT_ALLOWED"
  | "UNIMPLEMENTED"
  | "UNSUPPORTED_MEDIA_TYPE"
  | "NOT_ACCEPTABLE"
  | "RANGE_NOT_SATISFIABLE"
  | "VALIDATION"
  | "BODY_TOO_LARGE"
  | "MALFORMED_FRAME"
  | "DEADLINE"
  | "DRAINING";

/** Options of {@link TransportError}. */
export interface TransportErrorOptions {
  readonly violations?: readonly RequestViolation[];
  /** Additional headers of the reply. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cause?: unknown;
}

/** Creates a VALIDATION fault of one field. The message names it too. */
export function wrongField(field: string, description: string): TransportError {
  return new TransportError("VALIDATION", `${field}: ${description}`, {
    violations: [{ field, description }],
  });
}

/** Returns the HTTP status of an RPC code according to google/rpc/code.proto. */
export function httpStatusOfCode(code: Code): number {
  return HTTP_STATUS[code];
}

/** Adds the header that a reply with the status 401 must have (RFC 9110, 15.5.2), unless the refusal has its own. */
export function addChallenge(status: number, headers: Headers): void {
  if (status === 401 && !headers.has("www-authenticate")) headers.set("www-authenticate", "Bearer");
}

const HTTP_STATUS: Readonly<Record<Code, number>> = {
  [Code.Canceled]: 499,
  [Code.Unknown]: 500,
  [Code.InvalidArgument]: 400,
  [Code.DeadlineExceeded]: 504,
  [Code.NotFound]: 404,
  [Code.AlreadyExists]: 409,
  [Code.PermissionDenied]: 403,
  [Code.ResourceExhausted]: 429,
  [Code.FailedPrecondition]: 400,
  [Code.Aborted]: 409,
  [Code.OutOfRange]: 400,
  [Code.Unimplemented]: 501,
  [Code.Internal]: 500,
  [Code.Unavailable]: 503,
  [Code.DataLoss]: 500,
  [Code.Unauthenticated]: 401,
};

/** Converts an error to google.rpc.Status in JSON. Details of unknown types keep their bytes in `value`. */
export function statusJson(error: ConnectError): JsonValue {
  return { code: error.code, message: error.rawMessage, details: error.details.map(detailJson) };
}

type Detail = ConnectError["details"][number];

function detailJson(detail: Detail): JsonValue {
  if (!("desc" in detail)) {
    return { "@type": typeUrl(detail.type), value: base64Encode(detail.value) };
  }
  const desc: DescMessage = detail.desc;
  const message = create(desc, detail.value);
  const json = jsonOf(desc, message);
  // It contains a message of an unknown type.
  if (json === undefined)
    return { "@type": typeUrl(desc.typeName), value: base64Encode(toBinary(desc, message)) };
  // Well-known types with their own JSON form go into `value`, as Any's mapping requires.
  const isObject = typeof json === "object" && json !== null && !Array.isArray(json);
  return isObject
    ? { "@type": typeUrl(desc.typeName), ...json }
    : { "@type": typeUrl(desc.typeName), value: json };
}

function jsonOf(desc: DescMessage, message: Message): JsonValue | undefined {
  try {
    return toJson(desc, message);
  } catch {
    return undefined;
  }
}

function typeUrl(typeName: string): string {
  return `type.googleapis.com/${typeName}`;
}

/** Creates the error for a path that does not support the request's method, and lists the supported ones in `allow`. */
export function methodNotAllowed(reply: ServerReply, allowed: readonly string[]): TransportError {
  reply.setHeader("allow", allowed.join(", "));
  return new TransportError("METHOD_NOT_ALLOWED", "the method is not allowed on this path");
}
