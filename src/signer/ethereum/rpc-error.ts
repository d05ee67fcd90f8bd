import { TssError } from "../../client/sdk/index.ts";
import type { Redact } from "../../service/platform/telemetry/redact.ts";
import { fromTssError, SignerError } from "../signer-error.ts";

/** The error of one JSON-RPC call. The caller gets the message and the data. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The codes of JSON-RPC 2.0, and the first of those that are left to servers. */
export const RPC_CODES = {
  malformedJson: -32_700,
  malformedRequest: -32_600,
  unknownMethod: -32_601,
  wrongParams: -32_602,
  internal: -32_603,
  failed: -32_000,
} as const;

/** A parameter that cannot be used. */
export function wrongParam(name: string, description: string): RpcError {
  return new RpcError(RPC_CODES.wrongParams, `${name}: ${description}`);
}

/** Converts any failure. An unexpected one shows nothing of its cause. */
export function toRpcError(error: unknown, redact: Redact): RpcError {
  if (error instanceof RpcError) return withoutSecrets(error, redact);
  const failure = error instanceof TssError ? fromTssError(error, redact) : error;
  if (!(failure instanceof SignerError)) return new RpcError(RPC_CODES.internal, "internal error");
  const { reason, message, metadata } = failure;
  const code = reason === "VALIDATION" ? RPC_CODES.wrongParams : RPC_CODES.failed;
  return new RpcError(code, message, { reason, metadata });
}

/** The node may have chosen the texts, and it knows a key in its URL. */
function withoutSecrets({ code, message, data }: RpcError, redact: Redact): RpcError {
  const shown: unknown = data === undefined ? undefined : JSON.parse(redact(JSON.stringify(data)));
  return new RpcError(code, redact(message), shown);
}
