import type { ErrorStack } from "../error-stack.ts";
import type { ProtocolClient } from "../protocol-client.ts";
import type { WireReply } from "../wire-reply.ts";

/** One way to provoke a reason. */
export interface Provocation {
  /** The end of a sentence that begins with "is refused:". */
  readonly how: string;
  /** The only protocol that can give this refusal, and why the other cannot. */
  readonly only?: { readonly protocolClient: ProtocolClient["name"]; readonly because: string };
  readonly provoke: (stack: ErrorStack, protocolClient: ProtocolClient) => Promise<WireReply>;
  /** The whole metadata of the ErrorInfo, as values or matchers. Default: none. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** All fields of the BadRequest. Default: none. */
  readonly fields?: readonly string[];
  /** Headers that the reply must have. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The refusal ends a stream that has begun, so the head over REST has the status 200. */
  readonly isInStream?: boolean;
}
