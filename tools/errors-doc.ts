import { Code } from "@connectrpc/connect";
import { ERROR_CATALOGUE, type ErrorKind } from "../src/errors/catalogue.ts";
import { httpStatusOfCode } from "../src/transport/http-status.ts";

/** Prints the error catalogue as `docs/errors.md`: a table for each RPC code, each in the catalogue's order. */
export function errorsDocument(): string {
  const reasons = Object.entries<ErrorKind>(ERROR_CATALOGUE);
  const codes = [...new Set(reasons.map(([, { code }]) => code))].map((code) => {
    const rows = reasons.filter(([, kind]) => kind.code === code).map(([reason, kind]) => row(reason, kind));
    return `## ${rpcName(code)} (${code})\n\n${ADVICE[code]}\n\n${TABLE_HEAD}\n${rows.join("\n")}\n`;
  });
  return [HEAD, ...codes].join("\n");
}

const HEAD = `<!-- Generated from src/errors/catalogue.ts by \`npm run generate\`. Do not edit. -->

# Errors

Every failure that the service foresees carries a \`google.rpc.ErrorInfo\` with \`domain: "tss"\` and one of the reasons
below: in the details of the status over gRPC, gRPC-web and Connect, and in the JSON body over REST, which is a
\`google.rpc.Status\`. The reason is the part to program against; the message is for people. The \`metadata\` beside the
reason may have the keys that are listed with it.

A malformed field is named in a \`google.rpc.BadRequest\`, by its path in the names of the protos, whatever the protocol.
Where a retry can help, a \`google.rpc.RetryInfo\` and the header \`retry-after\` (over gRPC in the trailers) say after how
many seconds; "computed" means that each reply says its own. A stream that fails after its first message over REST has
its status in its last line or event instead, and no header. Every reply has an \`x-request-id\`, under which the log has
the cause.

The tables are sorted by RPC code, the number in brackets. HTTP is the status over REST; gRPC replies are always HTTP 200.
`;

const TABLE_HEAD = "| Reason | HTTP | Retry after | Metadata | Meaning |\n|---|---|---|---|---|";

/** What to do about a code, whatever the reason. Every code must have its words before the catalogue can use it. */
const ADVICE: Readonly<Record<Code, string>> = {
  [Code.Canceled]: "The caller left.",
  [Code.Unknown]: "Nothing is known of the failure.",
  [Code.InvalidArgument]: "The request itself is wrong. The same request fails again.",
  [Code.DeadlineExceeded]:
    "The time was over before the outcome was known. Make the same call again: it answers with what the first one made, " +
    "where it is idempotent by its nature or by an `idempotency-key`.",
  [Code.NotFound]: "Not there, or another project's, which is not told apart.",
  [Code.AlreadyExists]:
    "The name stands for something else already. Choose another, or send what it stands for.",
  [Code.PermissionDenied]:
    "It is known who calls, but this is not for them. Use another key, or another network.",
  [Code.ResourceExhausted]: "A limit. Wait where the reply says how long, or send less.",
  [Code.FailedPrecondition]: "Something must change before the same call can succeed.",
  [Code.Aborted]: "Another call was first. Make the same call again.",
  [Code.OutOfRange]: "The request reaches beyond the end.",
  [Code.Unimplemented]: "The server does not have what was asked for.",
  [Code.Internal]: "Our fault. Report it with the request id.",
  [Code.Unavailable]: "It passes by itself. Make the same call again after the time that the reply gives.",
  [Code.DataLoss]: "Data was lost.",
  [Code.Unauthenticated]: "The key is missing or not good. Such calls are refused before their body is read.",
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

/** `InvalidArgument` as the wire spells it: `INVALID_ARGUMENT`. */
function rpcName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
