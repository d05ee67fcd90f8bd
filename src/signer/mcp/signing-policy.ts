import { McpError } from "./mcp-error.ts";
import type { PayloadInput, PayloadKind } from "./payload-input.ts";

/** What an agent may have signed. It comes from the command line, and no tool changes it. */
export interface SigningPolicy {
  /** The names of the keys that may sign. Empty: the agent can only read. */
  readonly keyNames: ReadonlySet<string>;
  readonly payloads: ReadonlySet<PayloadKind>;
  /** The limits of Ethereum. Undefined for none; else nothing else than a checked transfer is signed. */
  readonly transfers: TransferLimits | undefined;
}

/** The limits of one transfer on Ethereum. Addresses are in lower case. */
export interface TransferLimits {
  /** The most that a transaction may cost: its value, and its gas at the highest fee. */
  readonly maxWei: bigint;
  /** Undefined for any. */
  readonly chainIds: ReadonlySet<number> | undefined;
  /** Undefined for any. */
  readonly destinations: ReadonlySet<string> | undefined;
  /** The tokens (ERC-20) that may be transferred, and the most of their smallest units. */
  readonly tokens: ReadonlyMap<string, bigint>;
}

/**
 * Checks that a key may sign a payload. Throws McpError KEY_NOT_ALLOWED, PAYLOAD_NOT_ALLOWED or LIMIT_EXCEEDED. Nothing
 * of the payload is in the message.
 */
export async function checkPolicy(
  policy: SigningPolicy,
  keyName: string,
  input: PayloadInput,
): Promise<void> {
  if (!policy.keyNames.has(keyName))
    throw new McpError(
      "KEY_NOT_ALLOWED",
      "the owner of the signer has not allowed this server to sign with this key; no tool can allow it",
    );
  if (!policy.payloads.has(input.kind))
    throw new McpError("PAYLOAD_NOT_ALLOWED", `the owner of the signer has not allowed ${input.kind}`);
  if (policy.transfers === undefined) return;
  const { checkTransfer } = await import("./transfer-limits.ts");
  checkTransfer(policy.transfers, input);
}
