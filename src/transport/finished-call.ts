import type { Code, ContextValues } from "@connectrpc/connect";

/** A finished call, for logs and metrics. Health, metrics and preflight requests are not calls. */
export interface FinishedCall {
  /** `package.Service/Method`, or `unmatched` when no method matches. */
  readonly method: string;
  /** grpc, grpc-web, connect or rest. */
  readonly protocol: string;
  /** `undefined` for success. */
  readonly code: Code | undefined;
  readonly durationMs: number;
  readonly requestId: string;
  /** The values that gate and interceptors have set, such as the project. */
  readonly values: ContextValues;
}
