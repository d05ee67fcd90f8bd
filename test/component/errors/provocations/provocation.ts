import type { ErrorStack } from "../error-stack.ts";
import type { Face } from "../face.ts";
import type { WireReply } from "../wire-reply.ts";

/** One way to be refused for a reason. */
export interface Provocation {
  /** Follows "is refused:". */
  readonly how: string;
  /** Where only one protocol can be refused so: which, and why the other cannot. */
  readonly only?: { readonly face: Face["name"]; readonly because: string };
  readonly provoke: (stack: ErrorStack, face: Face) => Promise<WireReply>;
  /** All of the ErrorInfo's, by values or matchers. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** All that the BadRequest names. Default: none. */
  readonly fields?: readonly string[];
  /** Headers that the reply must have. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The refusal ends a stream that has begun, so that over REST the head said 200. */
  readonly isInStream?: boolean;
}
