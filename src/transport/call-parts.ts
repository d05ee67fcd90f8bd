import type { Interceptor } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";
import type { ErrorMapping } from "./error-mapping.ts";
import type { RequestGate } from "./guard-call.ts";
import type { JsonForm } from "./json-form.ts";
import type { Limits } from "./limits.ts";

/** What every call on the transport's own path goes through, whatever its protocol. */
export interface CallParts {
  readonly gate: RequestGate | undefined;
  /** The first is outermost. */
  readonly interceptors: readonly Interceptor[];
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly jsonForm: JsonForm;
  /** The calls under way, so that they can be told to stop. */
  readonly live: Set<CallContext>;
  /** Hears of failures that no caller can be told. */
  readonly onError: (error: unknown) => void;
}
