import type { JsonObject } from "@bufbuild/protobuf";
import {
  ERROR_CATALOGUE,
  type ErrorKind,
  type ErrorReason,
} from "../../src/service/platform/errors/catalogue.ts";
import { httpStatusOfCode } from "../../src/transport/calls/transport-error.ts";
import { isCached } from "../openapi/octets.ts";
import type { NamedReply } from "../openapi/operation.ts";
import { headerRefs } from "../openapi/reply-headers.ts";
import { STATUS_REF } from "../openapi/streams.ts";
import { canOccur, type OperationFacts } from "./error-rules.ts";

const STATUS_BODY: JsonObject = { content: { "application/json": { schema: STATUS_REF } } };
const RANGE_NOT_SATISFIABLE = 416;

/** Returns the replies of failed calls by status, each with the reasons that the operation can have. */
export function errorReplies(facts: OperationFacts): Record<string, NamedReply> {
  const byStatus = new Map<number, [ErrorReason, ErrorKind][]>();
  const catalogue = Object.entries(ERROR_CATALOGUE) as [ErrorReason, ErrorKind][];
  for (const [reason, kind] of catalogue) {
    const status = kind.httpStatus ?? httpStatusOfCode(kind.code);
    // A range is refused only for operations with ranges, whatever the name of the reason.
    if (status === RANGE_NOT_SATISFIABLE ? !isCached(facts.binding) : !canOccur(reason, facts)) continue;
    byStatus.set(status, [...(byStatus.get(status) ?? []), [reason, kind]]);
  }
  return {
    ...(isCached(facts.binding) ? { [RANGE_NOT_SATISFIABLE]: RANGE_REFUSED } : {}),
    ...Object.fromEntries([...byStatus].map(([status, reasons]) => [status, replyWith(status, reasons)])),
    default: OTHER_FAILURE,
  };
}

/** Used if the catalogue has no reason for it. */
const RANGE_REFUSED: NamedReply = {
  name: "RangeNotSatisfiable",
  reply: {
    description: "The range begins behind the last byte.",
    headers: headerRefs("content-range", "x-request-id"),
    ...STATUS_BODY,
  },
};

/** The failure of all other kinds, also of the routes that are not RPCs. */
export const OTHER_FAILURE: NamedReply = {
  name: "Error",
  reply: {
    description: "Any other failure.",
    headers: headerRefs("retry-after", "x-request-id"),
    ...STATUS_BODY,
  },
};

/** The reply's name consists of its reasons. */
function replyWith(status: number, reasons: readonly [ErrorReason, ErrorKind][]): NamedReply {
  const canRetry = reasons.some(([, { retryAfterSeconds }]) => retryAfterSeconds !== undefined);
  return {
    name: reasons.map(([reason]) => reason).join("."),
    reply: {
      description: reasons.map(([reason, { meaning }]) => `- \`${reason}\`: ${meaning}`).join("\n"),
      headers: headerRefs(
        ...(status === RANGE_NOT_SATISFIABLE ? ["content-range"] : []),
        ...(canRetry ? ["retry-after"] : []),
        "x-request-id",
      ),
      ...STATUS_BODY,
      "x-reasons": reasons.map(([reason]) => reason),
    },
  };
}
