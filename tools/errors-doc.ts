import { Code } from "@connectrpc/connect";
import { ERROR_CATALOGUE, type ErrorKind } from "../src/service/platform/errors/catalogue.ts";
import { httpStatusOfCode } from "../src/transport/calls/transport-error.ts";

/** Prints the error catalogue as `docs/errors.md`: a table for each RPC code, each in the catalogue's order. */
export function errorsDocument(): string {
  const reasons = Object.entries<ErrorKind>(ERROR_CATALOGUE);
  const codes = [...new Set(reasons.map(([, { code }]) => code))].map((code) => {
    const rows = reasons.filter(([, kind]) => kind.code === code).map(([reason, kind]) => row(reason, kind));
    return `## ${rpcName(code)} (${code})\n\n${ADVICE[code]}\n\n${TABLE_HEAD}\n${rows.join("\n")}\n`;
  });
  return [HEAD, ...codes].join("\n");
}

const HEAD = `<!-- Generated from src/service/platform/errors/catalogue.ts by \`npm run generate\`. Do not edit. -->

# Errors

Every expected failure carries a \`google.rpc.ErrorInfo\` with \`domain: "tss"\` and one of the reasons
below: in the details of the status over gRPC, gRPC-web and Connect, and in the JSON body over REST, which is a
\`google.rpc.Status\`. Programs should use the reason; the message is for people. The \`metadata\` beside the reason may have
the listed keys.

On every protocol, a \`google.rpc.BadRequest\` names a malformed field by its path in proto names. If a retry can help, a
\`google.rpc.RetryInfo\` and the header \`retry-after\` (over gRPC in the trailers) give the delay in seconds; "computed"
means that each reply has its own value. If a REST stream fails after its first message, its last line or event has the
status, and there is no header. Every reply has an \`x-request-id\`. The log records the cause under that id.

The tables are grouped by RPC code, with its number in brackets. HTTP is the status over REST; gRPC replies are always HTTP 200.
`;

const TABLE_HEAD = "| Reason | HTTP | Retry after | Metadata | Meaning |\n|---|---|---|---|---|";

/** The advice for each code. A code needs advice before the catalogue can use it. */
const ADVICE: Readonly<Record<Code, string>> = {
  [Code.Canceled]: "The caller left.",
  [Code.Unknown]: "The cause of the failure is unknown.",
  [Code.InvalidArgument]: "The request itself is wrong. The same request fails again.",
  [Code.DeadlineExceeded]:
    "The deadline passed before the outcome was known. Retry the same call: it returns the result of the first one if it is " +
    "idempotent by nature or has an `idempotency-key`.",
  [Code.NotFound]:
    "The resource does not exist, or belongs to another project. The reply does not distinguish the two.",
  [Code.AlreadyExists]: "The name is already taken. Choose another name, or repeat the original request.",
  [Code.PermissionDenied]: "The caller is known but not permitted. Use another key or another network.",
  [Code.ResourceExhausted]: "The call exceeds a limit. Wait for the time in the reply, or send less.",
  [Code.FailedPrecondition]: "Something must change before the same call can succeed.",
  [Code.Aborted]: "A concurrent call was first. Retry the same call.",
  [Code.OutOfRange]: "The request extends beyond the end.",
  [Code.Unimplemented]: "The server does not implement the request.",
  [Code.Internal]: "The service failed. Report it with the request id.",
  [Code.Unavailable]: "The failure is temporary. Retry the same call after the time in the reply.",
  [Code.DataLoss]: "Data was lost.",
  [Code.Unauthenticated]:
    "The key is missing or invalid. The service refuses such calls before it reads the body.",
};

function row(reason: string, { code, httpStatus, meaning, metadata = [], ...retry }: ErrorKind): string {
  const http = httpStatus ?? httpStatusOfCode(code);
  return `| \`${reason}\` | ${http} | ${retryHint(retry)} | ${metadata.map((key) => `\`${key}\``).join(" ")} | ${meaning} |`;
}

function retryHint({
  retryAfterSeconds,
  isRetryComputed = false,
}: Pick<ErrorKind, "retryAfterSeconds" | "isRetryComputed">): string {
  if (isRetryComputed) return "computed";
  if (retryAfterSeconds === undefined) return "";
  return retryAfterSeconds === 0 ? "at once" : `${retryAfterSeconds} s`;
}

/** Converts `InvalidArgument` to the wire's spelling, `INVALID_ARGUMENT`. */
function rpcName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
