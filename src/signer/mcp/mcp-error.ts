/** A refusal that an agent sees. The message has no secret, and no text of others. */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly reason: string;

  constructor(reason: McpReason, message: string) {
    super(message);
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
