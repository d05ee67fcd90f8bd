import type { DescMessage, MessageInitShape } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RetryInfoSchema,
} from "../../gen/proto/google/rpc/error_details_pb.ts";
import { TssError } from "../client/sdk/index.ts";
import { createErrorMapping, ERROR_DOMAIN } from "../service/platform/errors/error-mapping.ts";
import type { Log } from "../service/platform/telemetry/logger.ts";
import type { Redact } from "../service/platform/telemetry/redact.ts";
import type { ErrorMapping } from "../transport/calls/call-parts.ts";
import { httpStatusOfCode } from "../transport/calls/transport-error.ts";
import { fromTssError, SignerError } from "./signer-error.ts";

/**
 * Maps failures to the wire in the form of the service's errors: `ErrorInfo` with a reason, `BadRequest` for fields,
 * `RetryInfo` if a retry may help. Each failure is logged once.
 */
export function mapSignerErrors(log: Log, redact: Redact): ErrorMapping {
  const others = createErrorMapping(({ level, message, ...fields }) => log[level](fields, message));
  const mapped = new WeakSet<ConnectError>();
  return {
    toConnectError(reason, call) {
      if (reason instanceof ConnectError && mapped.has(reason)) return reason;
      const failure = reason instanceof TssError ? fromTssError(reason, redact) : reason;
      if (!(failure instanceof SignerError)) return others.toConnectError(reason, call);
      const { method, requestId } = call;
      log.warn({ reason: failure.reason, method, requestId, cause: failure.cause }, failure.message);
      const error = toWire(failure);
      mapped.add(error);
      return error;
    },
    httpStatus: (error) => (mapped.has(error) ? httpStatusOfCode(error.code) : others.httpStatus(error)),
  };
}

function toWire({
  reason,
  code,
  message,
  metadata,
  violations,
  retryAfterSeconds,
}: SignerError): ConnectError {
  const details: Detail[] = [
    detail(ErrorInfoSchema, { reason, domain: ERROR_DOMAIN, metadata: { ...metadata } }),
  ];
  if (violations.length > 0)
    details.push(
      detail(BadRequestSchema, { fieldViolations: violations.map((violation) => ({ ...violation })) }),
    );
  const headers = new Headers();
  if (retryAfterSeconds !== undefined) {
    const seconds = Math.ceil(retryAfterSeconds);
    details.push(detail(RetryInfoSchema, { retryDelay: { seconds: BigInt(seconds), nanos: 0 } }));
    headers.set("retry-after", String(seconds));
  }
  return new ConnectError(message, code, headers, details);
}

type Detail = { desc: DescMessage; value: MessageInitShape<DescMessage> };

function detail<T extends DescMessage>(desc: T, value: MessageInitShape<T>): Detail {
  return { desc, value };
}
