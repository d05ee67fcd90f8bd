/** A refusal that an agent sees. The message has no secret, and no text of others. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly reason: string;

  /** @param cause what the log shows, and no agent */
  constructor(reason: McpReason, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reason = reason;
  }
}

/** Why the server refuses a call of a tool. */
type McpReason =
  | "VALIDATION"
  | "UNKNOWN_TOOL"
  | "KEY_NOT_ALLOWED"
  | "PAYLOAD_NOT_ALLOWED"
  | "LIMIT_EXCEEDED"
  | "TOO_MANY_SIGNATURES"
  | "LEDGER_UNAVAILABLE"
  | "BUSY";
