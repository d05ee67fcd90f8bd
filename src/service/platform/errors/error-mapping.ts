import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { CompilationError, RuntimeError, ValidationError } from "@bufbuild/protovalidate";
import { Code, ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import type { FailedCall } from "../../../transport/calls/call.ts";
import type { ErrorMapping } from "../../../transport/calls/call-parts.ts";
import { httpStatusOfCode, TransportError } from "../../../transport/calls/transport-error.ts";
import { ERROR_CATALOGUE, type ErrorKind, type ErrorReason } from "./catalogue.ts";
import { ServiceError } from "./service-error.ts";
import { violationsOf } from "./validate-interceptor.ts";

/**
 * Maps every failure of a call to its form on the wire: code, public message, `ErrorInfo` from the catalogue,
 * `BadRequest` for fields, `RetryInfo` and `retry-after` if a retry may help.
 * An unexpected failure becomes INTERNAL with the request id and nothing else. Each failure is logged once.
 */
export function createErrorMapping(log: (failure: FailureRecord) => void): ErrorMapping {
  return {
    toConnectError(reason, call) {
      if (reason instanceof ConnectError && (reasonOf(reason) !== undefined || isCallersEnd(reason)))
        return reason;
      const failure = toServiceError(reason);
      log(toRecord(failure, call));
      return toWire(failure, call);
    },
    httpStatus(error) {
      const reason = reasonOf(error);
      const kind: ErrorKind | undefined = reason && ERROR_CATALOGUE[reason];
      return kind?.httpStatus ?? httpStatusOfCode(error.code);
    },
  };
}

/** The `domain` of every ErrorInfo that this service sends. */
export const ERROR_DOMAIN = "tss";

/** One failure for the log. The caller receives only `reason`, `message` and `requestId`. */
export interface FailureRecord {
  /** `warn` for the caller's mistakes and temporary failures, `error` for faults of the service. */
  readonly level: "warn" | "error";
  readonly reason: ErrorReason;
  readonly message: string;
  readonly method: string;
  readonly requestId: string;
  /** Internal text, which the caller never receives. */
  readonly detail: string | undefined;
  readonly cause: unknown;
}

/** The catalogue's reason in a mapped error, or `undefined`. */
export function reasonOf(error: ConnectError): ErrorReason | undefined {
  for (const detail of error.details) {
    if (!("desc" in detail) || detail.desc.typeName !== ErrorInfoSchema.typeName) continue;
    const { domain, reason } = detail.value as MessageInitShape<typeof ErrorInfoSchema>;
    if (domain === ERROR_DOMAIN && reason !== undefined && reason in ERROR_CATALOGUE)
      return reason as ErrorReason;
  }
  return undefined;
}

/** True if the caller cancelled. It receives no reply, and the failure is not a fault. */
function isCallersEnd(error: ConnectError): boolean {
  return error.code === Code.Canceled || error.code === Code.Aborted;
}

function toServiceError(reason: unknown): ServiceError {
  if (reason instanceof ServiceError) return reason;
  if (reason instanceof TransportError) {
    return new ServiceError(reason.fault, reason.message, {
      violations: reason.violations,
      headers: reason.headers,
      cause: reason.cause,
    });
  }
  if (reason instanceof ConnectError) {
    const { cause } = reason;
    if (cause instanceof ValidationError) return fromViolations(cause);
    if (reason.code === Code.DeadlineExceeded) return new ServiceError("DEADLINE", "the deadline passed");
    if (reason.code === Code.Unimplemented) return new ServiceError("UNIMPLEMENTED", reason.rawMessage);
    if (cause instanceof CompilationError || cause instanceof RuntimeError) return internal(cause);
  }
  return isDatabaseUnavailable(reason) ? databaseUnavailable(reason) : internal(reason);
}

function fromViolations(cause: ValidationError): ServiceError {
  const violations = violationsOf(cause);
  const message = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new ServiceError("VALIDATION", message, { violations });
}

function databaseUnavailable(cause: unknown): ServiceError {
  return new ServiceError("DATABASE_UNAVAILABLE", "the database does not answer", {
    detail: textOf(cause),
    cause,
  });
}

function internal(cause: unknown): ServiceError {
  return new ServiceError("INTERNAL", "internal error", { detail: textOf(cause), cause });
}

const textOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

function toRecord(failure: ServiceError, call: FailedCall): FailureRecord {
  const { code } = ERROR_CATALOGUE[failure.reason];
  return {
    level: OUR_FAULTS.has(code) && failure.reason !== "MALFORMED_FRAME" ? "error" : "warn",
    reason: failure.reason,
    message: failure.message,
    method: call.method,
    requestId: call.requestId,
    detail: failure.detail,
    cause: failure.cause,
  };
}

const OUR_FAULTS: ReadonlySet<Code> = new Set([Code.Internal, Code.Unknown, Code.DataLoss]);

function toWire(failure: ServiceError, call: FailedCall): ConnectError {
  const kind: ErrorKind = ERROR_CATALOGUE[failure.reason];
  const isInternal = failure.reason === "INTERNAL";
  const metadata = isInternal ? { requestId: call.requestId } : { ...failure.metadata };
  const details: Detail[] = [
    detail(ErrorInfoSchema, { reason: failure.reason, domain: ERROR_DOMAIN, metadata }),
  ];
  if (failure.violations.length > 0) {
    const fieldViolations = failure.violations.map(({ field, description }) => ({
      field: wellFormed(field),
      description: wellFormed(description),
    }));
    details.push(detail(BadRequestSchema, { fieldViolations }));
  }
  const headers = new Headers(failure.headers);
  const retryAfterSeconds = failure.retryAfterSeconds ?? kind.retryAfterSeconds;
  if (retryAfterSeconds !== undefined) {
    details.push(detail(RetryInfoSchema, { retryDelay: toDuration(retryAfterSeconds) }));
    headers.set("retry-after", String(Math.ceil(retryAfterSeconds)));
  }
  const message = isInternal ? "internal error" : wellFormed(failure.message);
  return new ConnectError(message, kind.code, headers, details, failure);
}

/** Replaces half a surrogate pair at the end of a shortened text, which neither UTF-8 nor gRPC can encode. */
function wellFormed(text: string): string {
  return text.replace(/\p{Cs}/gu, "\u{fffd}");
}

type Detail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

function detail<T extends DescMessage>(desc: T, value: MessageInitShape<T>): Detail {
  return { desc, value };
}

const NANOS_PER_SECOND = 1_000_000_000n;

function toDuration(seconds: number) {
  const nanos = BigInt(Math.round(seconds * 1e9));
  return { seconds: nanos / NANOS_PER_SECOND, nanos: Number(nanos % NANOS_PER_SECOND) };
}

/**
 * Returns true if a statement failed because the database is unreachable, overloaded or too slow, or closed the
 * connection. Such failures are temporary. Recognizes the errors of `pg` and of Prisma.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (DRIVER.test(error.message)) return true;
  const codes = [fieldOf(error, "code"), originalCode(error)];
  return codes.some(
    (code) => typeof code === "string" && [SQL_STATE, SYSTEM, PRISMA].some((pattern) => pattern.test(code)),
  );
}

/**
 * The SQLSTATEs of a server that stops, starts, is full or too slow: class 08; admin_shutdown, crash_shutdown,
 * cannot_connect_now, idle_session_timeout; too_many_connections, out_of_memory; query_canceled, which
 * statement_timeout causes; lock_not_available; idle_in_transaction_session_timeout; and read_only_sql_transaction,
 * which a server returns after it became a standby.
 */
const SQL_STATE = /^(08\w{3}|57P0[1235]|53300|53200|57014|55P03|25P03|25006)$/;
const SYSTEM = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** Prisma's codes: not reachable, timed out, closed, too many connections. */
const PRISMA = /^(P1001|P1002|P1008|P1017|P2037)$/;
/** Failures to which `pg` gives no code. The last one is a full pool. */
const DRIVER =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/;

/** The driver's code, if Prisma wrapped the driver's error. */
function originalCode(error: Error): unknown {
  return ["meta", "driverAdapterError", "cause", "originalCode"].reduce<unknown>(fieldOf, error);
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
