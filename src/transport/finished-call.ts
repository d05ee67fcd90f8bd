import type { Code, ContextValues } from "@connectrpc/connect";

/** One call as it ended, for logs and metrics. Health, metrics and preflight requests are no calls. */
export interface FinishedCall {
  /** `package.Service/Method`, or `unmatched` when no method was found. */
  readonly method: string;
  /** grpc, grpc-web, connect or rest. */
  readonly protocol: string;
  /** `undefined` for success. */
  readonly code: Code | undefined;
  readonly durationMs: number;
  readonly requestId: string;
  /** What gate and interceptors left, such as the project. */
  readonly values: ContextValues;
}
