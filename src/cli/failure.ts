import { Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../gen/proto/google/rpc/error_details_pb.ts";
import { fromConnectError, isTransportFailure, TssError } from "../client/sdk/errors.ts";
import { ServiceError } from "../service/platform/errors/service-error.ts";
import { isSchemaMissing } from "../service/platform/store/sql-errors.ts";
import { EXIT, type ExitCode, UsageError } from "./command-line/command.ts";
import { messageOf, UnreachableError } from "./connections/unreachable-error.ts";
import { printable } from "./output/printable.ts";

/** The text of a failure, and the exit code. */
export interface Failure {
  readonly message: string;
  readonly exitCode: ExitCode;
}

/**
 * Describes any error. The catalogue's reason, which docs/errors.md explains, comes first. The text of a refusal is one
 * line, so that a service cannot forge others.
 */
export function describeFailure(error: unknown): Failure {
  if (error instanceof UsageError) return { message: error.message, exitCode: EXIT.usage };
  if (error instanceof ConnectError) return describeRefusal(error);
  if (error instanceof ServiceError) return failed(`${error.reason}: ${error.message}`);
  if (isSchemaMissing(error))
    return failed("the database is not migrated to this version; run `tss migrate` first");
  if (error instanceof TssError) return describeTssError(error);
  const message = messageOf(error);
  return error instanceof UnreachableError ? { message, exitCode: EXIT.unreachable } : failed(message);
}

/** Returns true if no answer came, so that the call may have run. */
export function isOutcomeUnknown(error: unknown): boolean {
  return error instanceof ConnectError && isTransportFailure(error);
}

/** Describes an error of the client SDK. */
function describeTssError({ reason, message }: TssError): Failure {
  const exitCode = PASSING.has(reason) ? EXIT.unreachable : EXIT.failed;
  return { message: printable(`${reason}: ${message}`), exitCode };
}

const PASSING: ReadonlySet<string> = new Set(["CHAIN_UNAVAILABLE", "UNREACHABLE", "TIMEOUT"]);

function describeRefusal(refusal: ConnectError): Failure {
  const { reason, message, requestId, retryAfterMs } = fromConnectError(refusal);
  const isPassing = isTransportFailure(refusal) || retryAfterMs !== undefined;
  return {
    message: printable(
      [
        `${reason}: ${message}`,
        ...explained(refusal),
        ...(requestId === undefined ? [] : [` (request ${requestId})`]),
      ].join(""),
    ),
    exitCode: isPassing ? EXIT.unreachable : EXIT.failed,
  };
}

/** Returns advice for the operator. */
function* explained(refusal: ConnectError): Generator<string> {
  // The reason of a failed fetch is in its cause.
  for (let cause = causeOf(refusal.cause); cause !== undefined; cause = causeOf(cause))
    if (messageOf(cause) !== "") yield `: ${messageOf(cause)}`;
  if (refusal.code === Code.Unimplemented && refusal.findDetails(ErrorInfoSchema).length === 0)
    yield "; check that the URL points to a service with this call";
}

function causeOf(error: unknown): Error | undefined {
  return error instanceof Error && error.cause instanceof Error ? error.cause : undefined;
}

function failed(message: string): Failure {
  return { message, exitCode: EXIT.failed };
}
