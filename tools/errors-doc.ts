import { Code } from "@connectrpc/connect";
import { ERROR_CATALOGUE, type ErrorKind } from "../src/errors/catalogue.ts";
import { httpStatusOfCode } from "../src/transport/http-status.ts";

/** Prints the error catalogue as `docs/errors.md`: one table, in the catalogue's order. */
export function errorsDocument(): string {
  const rows = Object.entries<ErrorKind>(ERROR_CATALOGUE).map(([reason, kind]) => {
    const http = kind.httpStatus ?? httpStatusOfCode(kind.code);
    const retry = kind.retryAfterSeconds === undefined ? "" : `${kind.retryAfterSeconds} s`;
    return `| \`${reason}\` | ${rpcName(kind.code)} | ${http} | ${retry} | ${kind.meaning} |`;
  });
  return `${HEAD}${rows.join("\n")}\n`;
}

const HEAD = `<!-- Generated from src/errors/catalogue.ts by \`npm run generate\`. Do not edit. -->

# Errors

Every failure that the service foresees carries a \`google.rpc.ErrorInfo\` with \`domain: "tss"\` and one of the reasons
below: in the details of the status over gRPC, gRPC-web and Connect, and in the JSON body over REST. The reason is the
part to program against; the message is for people. A malformed field is named in a \`google.rpc.BadRequest\` beside it.
Where a retry can help, a \`google.rpc.RetryInfo\` (and \`retry-after\` over REST) says after how long. Every reply has an
\`x-request-id\`, and the log has the cause under it.

| Reason | RPC code | HTTP | Retry after | Meaning |
|---|---|---|---|---|
`;

/** `InvalidArgument` as the wire spells it: `INVALID_ARGUMENT`. */
function rpcName(code: Code): string {
  return Code[code].replace(/(?<=[a-z])(?=[A-Z])/g, "_").toUpperCase();
}
