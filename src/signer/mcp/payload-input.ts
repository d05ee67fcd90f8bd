import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SignRequestSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { McpError } from "./mcp-error.ts";

/**
 * The kinds of payloads that an agent can have signed. A raw message and an authorization of EIP-7702 are not among
 * them: nobody can read the first one, and the second one gives a contract the whole account.
 */
export const PAYLOAD_KINDS = [
  "evm_transaction",
  "evm_typed_data",
  "evm_message",
  "solana_transaction",
  "sui_transaction",
  "sui_message",
  "bitcoin_psbt",
] as const;

/** A kind of payload. */
export type PayloadKind = (typeof PAYLOAD_KINDS)[number];

/** A payload of a tool's arguments: octets, or text for typed data. */
export type PayloadInput =
  | { readonly kind: "evm_typed_data"; readonly json: string }
  | { readonly kind: Exclude<PayloadKind, "evm_typed_data">; readonly octets: Uint8Array };

/** Reads a payload. Throws McpError VALIDATION. */
export function readPayloadInput(kind: unknown, payload: unknown): PayloadInput {
  const known = PAYLOAD_KINDS.find((one) => one === kind);
  if (known === undefined)
    throw new McpError("VALIDATION", `kind: must be one of ${PAYLOAD_KINDS.join(", ")}`);
  if (typeof payload !== "string" || payload.length === 0 || payload.length > MAX_CHARACTERS)
    throw new McpError("VALIDATION", `payload: must be a text of 1 to ${MAX_CHARACTERS} characters`);
  switch (known) {
    case "evm_typed_data":
      return { kind: known, json: payload };
    case "evm_message":
    case "sui_message":
      return { kind: known, octets: new TextEncoder().encode(payload) };
    case "evm_transaction": {
      if (!/^0x(?:[0-9a-f]{2})+$/i.test(payload))
        throw new McpError("VALIDATION", "payload: must be 0x and the transaction in hex");
      return { kind: known, octets: Uint8Array.from(Buffer.from(payload.slice(2), "hex")) };
    }
    default: {
      const octets = Buffer.from(payload, "base64");
      if (octets.toString("base64") !== payload)
        throw new McpError("VALIDATION", "payload: must be Base64 with its padding");
      return { kind: known, octets: Uint8Array.from(octets) };
    }
  }
}

/** Converts a payload into that of the signer's contract. */
export function toSignPayload(input: PayloadInput): SignPayload {
  switch (input.kind) {
    case "evm_typed_data":
      return { case: "evmTypedData", value: input.json };
    case "evm_transaction":
      return { case: "evmTransaction", value: input.octets };
    case "evm_message":
      return { case: "evmMessage", value: input.octets };
    case "solana_transaction":
      return { case: "solanaTransaction", value: input.octets };
    case "sui_transaction":
      return { case: "suiTransaction", value: input.octets };
    case "sui_message":
      return { case: "suiMessage", value: input.octets };
    case "bitcoin_psbt":
      return { case: "bitcoinPsbt", value: input.octets };
  }
}

type SignPayload = NonNullable<MessageInitShape<typeof SignRequestSchema>["payload"]>;

const MAX_CHARACTERS = 180_000;
