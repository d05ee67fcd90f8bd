import type { Interceptor } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";
import type { ErrorMapping } from "./error-mapping.ts";
import type { RequestGate } from "./guard-call.ts";
import type { JsonForm } from "./json-form.ts";
import type { Limits } from "./limits.ts";

/** The parts that every call on the transport's own path passes through, on every protocol. */
export interface CallParts {
  readonly gate: RequestGate | undefined;
  /** In order, the outermost first. */
  readonly interceptors: readonly Interceptor[];
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  readonly jsonForm: JsonForm;
  /** The running calls, so that a shutdown can stop them. */
  readonly live: Set<CallContext>;
  /** Called with failures that no reply can report. */
  readonly onError: (error: unknown) => void;
}
