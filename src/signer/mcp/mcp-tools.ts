import { randomUUID } from "node:crypto";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import { type Client, Code, ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../../../gen/proto/google/rpc/error_details_pb.ts";
import {
  type Key,
  KeySchema,
  type Signer,
  type SignResponse,
} from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import type { Log } from "../../service/platform/telemetry/logger.ts";
import { countSignatures, explain } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";
import { PAYLOAD_KINDS, type PayloadInput, readPayloadInput, toSignPayload } from "./payload-input.ts";
import type { SignatureLedger } from "./signature-ledger.ts";
import { checkPolicy, type SigningPolicy } from "./signing-policy.ts";
import { UNTRUSTED_NOTE, type Untrusted, untrusted } from "./untrusted.ts";

/** The tools of an agent. All sessions of a process share them. */
export interface McpTools {
  readonly list: readonly ToolDescription[];
  /** Calls a tool. Never rejects: a failure is a result that says why, and tells nothing of its cause. */
  call(name: string, args: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ToolResult>;
}

/** Creates the tools over a running signer. */
export function createMcpTools({ signer, policy, ledger, log }: McpToolsOptions): McpTools {
  let callCount = 0;
  let signingCount = 0;
  const tools: Readonly<Record<string, Tool>> = {
    async list_keys({ page_token: pageToken }, signal) {
      const given = optionalText(pageToken, "page_token", 1_024);
      const { keys, nextPageToken } = await signer.listKeys(
        { pageSize: 50, pageToken: given ?? "" },
        { signal },
      );
      return { keys: keys.map(showKey), next_page_token: nextPageToken };
    },
    get_addresses: async ({ key }, signal) =>
      showKey(await signer.getKey({ name: keyName(key) }, { signal })),
    explain_payload: async ({ kind, payload }) => ({ ...(await explain(readPayloadInput(kind, payload))) }),
    async request_signature({ key, kind, payload, idempotency_key: given }, signal) {
      const name = keyName(key);
      const input = readPayloadInput(kind, payload);
      const idempotencyKey = optionalText(given, "idempotency_key", 200) ?? randomUUID();
      await checkPolicy(policy, name, input);
      const explanation = await explain(input);
      const count = await countSignatures(input);
      if (signingCount >= MAX_SIGNING)
        throw new McpError("BUSY", `${MAX_SIGNING} signatures run; call again when one has ended`);
      signingCount++;
      try {
        // A malformed payload is refused above. From here on the call counts, with or without a signature.
        ledger.take(name, count);
        const request = {
          name,
          payload: toSignPayload(input),
          // A prefix keeps an agent away from the idempotency keys of the backend.
          idempotencyKey: `mcp-${idempotencyKey}`,
        };
        const signed = await signer
          .sign(request, { signal, timeoutMs: SIGN_TIMEOUT_MS })
          .catch((cause: unknown) => {
            throw new FailedSignature(idempotencyKey, cause);
          });
        return { signed: showSigned(input, signed), explanation };
      } finally {
        signingCount--;
      }
    },
  };

  function showKey(key: Key) {
    const { curve, state, addresses = [] } = toJson(KeySchema, key) as Readonly<Record<string, JsonValue>>;
    return { name: key.name, curve, state, addresses, may_sign: policy.keyNames.has(key.name) };
  }

  return {
    list: DESCRIPTIONS,
    async call(name, args, signal) {
      const audited = { audit: "mcp", tool: Object.hasOwn(tools, name) ? name : "unknown" };
      const { key } = args;
      const keyOf = { keyName: isKeyName(key) ? key : undefined, kind: kindOf(args) };
      try {
        if (!Object.hasOwn(tools, name)) throw new McpError("UNKNOWN_TOOL", "there is no tool of this name");
        if (callCount >= MAX_CALLS) throw new McpError("BUSY", `${MAX_CALLS} calls run; call again later`);
        callCount++;
        const result = await tools[name]!(args, signal).finally(() => callCount--);
        log.info({ ...audited, ...keyOf, outcome: "done" }, "a tool was called");
        return { isError: false, value: { note: UNTRUSTED_NOTE, ...result } };
      } catch (error) {
        const failure = showFailure(error);
        log.info({ ...audited, ...keyOf, outcome: failure.reason }, "a tool has failed");
        if (UNEXPECTED.has(failure.reason)) log.error({ cause: error }, "a tool has failed unexpectedly");
        return { isError: true, value: { note: UNTRUSTED_NOTE, ...failure } };
      }
    },
  };
}

/** Options of {@link createMcpTools}. */
interface McpToolsOptions {
  readonly signer: Pick<Client<typeof Signer>, "listKeys" | "getKey" | "sign">;
  readonly policy: SigningPolicy;
  readonly ledger: SignatureLedger;
  readonly log: Log;
}

type Tool = (
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

/** A tool for the list that a model reads. */
interface ToolDescription {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: { readonly type: "object"; readonly [key: string]: unknown };
  readonly annotations: { readonly readOnlyHint: boolean; readonly openWorldHint: boolean };
}

/** The result of a tool, as a JSON object. */
interface ToolResult {
  readonly isError: boolean;
  readonly value: Readonly<Record<string, unknown>>;
}

/** The most calls at a time, over all sessions. */
const MAX_CALLS = 32;
/** The most signatures at a time, over all sessions. */
const MAX_SIGNING = 4;
const SIGN_TIMEOUT_MS = 180_000;
/** The failures whose cause only the log shows. */
const UNEXPECTED: ReadonlySet<string> = new Set(["INTERNAL", "SIGNER_UNAVAILABLE", "LEDGER_UNAVAILABLE"]);
const KEY_NAME = /^[A-Za-z0-9][A-Za-z0-9._@+:-]{0,127}$/;

/** Ethereum's APIs take hex, those of the other chains Base64. */
function showSigned({ kind }: PayloadInput, signed: SignResponse): Readonly<Record<string, string>> {
  const encoding = kind.startsWith("evm_") ? "hex" : "base64";
  const show = (octets: Uint8Array) =>
    (encoding === "hex" ? "0x" : "") + Buffer.from(octets).toString(encoding);
  const parts = {
    signature: signed.signature,
    signed_transaction: kind.startsWith("evm_")
      ? signed.signedEvmTransaction
      : signed.signedSolanaTransaction,
    signed_psbt: signed.signedPsbt,
    bitcoin_transaction: signed.bitcoinTransaction,
  };
  const present = Object.entries(parts).filter(([, octets]) => octets.length > 0);
  return Object.fromEntries(present.map(([name, octets]) => [name, show(octets)]));
}

const KEY = { type: "string", description: "The name of a key." };
const KIND = { type: "string", enum: PAYLOAD_KINDS, description: "The kind of the payload." };
const PAYLOAD = {
  type: "string",
  description:
    "evm_transaction: the unsigned, serialized transaction, 0x and hex. evm_typed_data: the JSON of " +
    "eth_signTypedData_v4. evm_message, sui_message: the text. Others: Base64.",
};
const READING = { readOnlyHint: true, openWorldHint: false };

const DESCRIPTIONS: readonly ToolDescription[] = [
  {
    name: "list_keys",
    description: "Lists the signer's keys with their addresses, and whether this server may sign with them.",
    inputSchema: schema(
      { page_token: { type: "string", description: "next_page_token of the page before." } },
      [],
    ),
    annotations: READING,
  },
  {
    name: "get_addresses",
    description: "Returns the addresses of a key on the chains that it can sign for.",
    inputSchema: schema({ key: KEY }, ["key"]),
    annotations: READING,
  },
  {
    name: "explain_payload",
    description: "Says in words what a transaction, typed data or a message does, and warns. Signs nothing.",
    inputSchema: schema({ kind: KIND, payload: PAYLOAD }, ["kind", "payload"]),
    annotations: READING,
  },
  {
    name: "request_signature",
    description:
      "Has a payload signed with a key. The owner of the signer decides which keys, kinds and amounts are allowed, and " +
      "how many signatures. It sends no transaction. Repeat a failed call with the idempotency_key of its result, if that has one.",
    inputSchema: schema(
      {
        key: KEY,
        kind: KIND,
        payload: PAYLOAD,
        idempotency_key: {
          type: "string",
          description: "Names this signature: up to 200 visible ASCII characters.",
        },
      },
      ["key", "kind", "payload"],
    ),
    annotations: { readOnlyHint: false, openWorldHint: true },
  },
];

function schema(properties: Readonly<Record<string, object>>, required: readonly string[]) {
  return { type: "object" as const, properties, required, additionalProperties: false };
}

function isKeyName(value: unknown): value is string {
  return typeof value === "string" && KEY_NAME.test(value);
}

function keyName(value: unknown): string {
  if (isKeyName(value)) return value;
  throw new McpError("VALIDATION", "key: must be the name of a key");
}

function optionalText(value: unknown, field: string, most: number): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && value.length <= most && /^[!-~]+$/.test(value)) return value;
  throw new McpError("VALIDATION", `${field}: must have up to ${most} visible ASCII characters`);
}

function kindOf({ kind }: Readonly<Record<string, unknown>>): string | undefined {
  return PAYLOAD_KINDS.find((one) => one === kind);
}

interface Failure {
  readonly reason: string;
  readonly message: string;
  readonly details?: Untrusted;
  /** Of a signature: a repeat with it is not charged again. */
  readonly idempotency_key?: string;
}

/** The signer has made no signature, or has not said so. */
class FailedSignature extends Error {
  override readonly name = "FailedSignature";
  readonly idempotencyKey: string;

  constructor(idempotencyKey: string, cause: unknown) {
    super("no signature was returned", { cause });
    this.idempotencyKey = idempotencyKey;
  }
}

/** Such a failure says whether the signature was refunded. Its idempotency key gives the same failure again. */
function hasFailedForGood(error: unknown): boolean {
  if (!(error instanceof ConnectError)) return false;
  return error.findDetails(ErrorInfoSchema)[0]?.metadata["refunded"] !== undefined;
}

/** Describes a failure. The signer may pass on a text that the service has chosen, so that it is marked. */
function showFailure(error: unknown): Failure {
  if (error instanceof FailedSignature) {
    const failure = showFailure(error.cause);
    return hasFailedForGood(error.cause) ? failure : { ...failure, idempotency_key: error.idempotencyKey };
  }
  if (error instanceof McpError) return { reason: error.reason, message: error.message };
  if (!(error instanceof ConnectError)) return { reason: "INTERNAL", message: "internal error" };
  const info = error.findDetails(ErrorInfoSchema)[0];
  if (info === undefined)
    return {
      reason: "SIGNER_UNAVAILABLE",
      message: `the signer does not answer as expected (${Code[error.code]})`,
    };
  const isName = /^[A-Z][A-Z0-9_]{0,63}$/.test(info.reason);
  return {
    reason: isName ? info.reason : "REFUSED",
    message: "the signer refuses the call",
    details: untrusted(error.rawMessage.slice(0, 500)),
  };
}
