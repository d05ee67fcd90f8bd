import {
  bytesToHex,
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  isAddress,
  parseTransaction,
} from "viem";
import { McpError } from "./mcp-error.ts";
import type { PayloadInput } from "./payload-input.ts";
import type { TransferLimits } from "./signing-policy.ts";

/**
 * Checks a payload against the limits of one transfer. It must be a transfer of the chain's coin, of a listed token, or
 * an authorization to transfer a listed token (EIP-3009), as x402 uses it. Throws McpError LIMIT_EXCEEDED for any other
 * transfer, and PAYLOAD_NOT_ALLOWED for what is none.
 */
export function checkTransfer(limits: TransferLimits, input: PayloadInput): void {
  if (input.kind === "evm_transaction") checkTransaction(limits, input.octets);
  else if (input.kind === "evm_typed_data") checkAuthorization(limits, input.json);
  else throw noTransfer();
}

function checkTransaction(limits: TransferLimits, octets: Uint8Array): void {
  const { type, chainId, to, value = 0n, data = "0x", gas = 0n, ...more } = parse(octets);
  const price = more.maxFeePerGas ?? more.gasPrice ?? 0n;
  const isKnownType = type === "legacy" || type === "eip2930" || type === "eip1559";
  if (!isKnownType || !isAddress(to ?? "", { strict: false }) || chainId === undefined) throw noTransfer();
  checkChain(limits, chainId);
  if (value + gas * price > limits.maxWei)
    throw exceeded("the value and the highest fee are above the limit");
  if (data === "0x") {
    checkDestination(limits, to!);
    return;
  }
  const { recipient, amount } = readTransferCall(data);
  if (value !== 0n) throw noTransfer();
  checkToken(limits, to!, amount);
  checkDestination(limits, recipient);
}

function parse(octets: Uint8Array): ParsedTransaction {
  try {
    return parseTransaction(bytesToHex(octets)) as unknown as ParsedTransaction;
  } catch {
    throw new McpError("VALIDATION", "payload: is not a serialized transaction");
  }
}

interface ParsedTransaction {
  readonly type?: string;
  readonly chainId?: number;
  readonly to?: string | null;
  readonly value?: bigint;
  readonly data?: `0x${string}`;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
}

/** Reads a call of ERC-20's `transfer` that has nothing else in it. */
function readTransferCall(data: `0x${string}`): { readonly recipient: string; readonly amount: bigint } {
  try {
    const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
    if (functionName === "transfer" && encodeFunctionData({ abi: erc20Abi, functionName, args }) === data)
      return { recipient: args[0], amount: args[1] };
  } catch {
    // Another function.
  }
  throw noTransfer();
}

/** The struct of EIP-3009's `transferWithAuthorization`. */
const AUTHORIZATION = [
  ["from", "address"],
  ["to", "address"],
  ["value", "uint256"],
  ["validAfter", "uint256"],
  ["validBefore", "uint256"],
  ["nonce", "bytes32"],
];

function checkAuthorization(limits: TransferLimits, json: string): void {
  const { domain, types, primaryType, message } = readTypedData(json);
  const struct = types["TransferWithAuthorization"];
  const isAuthorization =
    primaryType === "TransferWithAuthorization" &&
    Array.isArray(struct) &&
    JSON.stringify(struct.map((field) => [field?.name, field?.type])) === JSON.stringify(AUTHORIZATION);
  // A domain type without them would leave the contract or the chain out of what is signed.
  const ofDomain = types["EIP712Domain"];
  const hasPlace = ["chainId", "verifyingContract"].every(
    (name) =>
      ofDomain === undefined || (Array.isArray(ofDomain) && ofDomain.some((field) => field?.name === name)),
  );
  const { chainId, verifyingContract } = domain;
  const { to, value } = message;
  // A number above 2^53 has lost digits.
  const isAmount = typeof value === "string" ? /^\d{1,78}$/.test(value) : isCount(value);
  const isComplete = typeof verifyingContract === "string" && typeof to === "string" && isAmount;
  // A chain id as text is left out of a domain whose type is not given.
  const isKnownChain =
    isCount(chainId) || (ofDomain !== undefined && typeof chainId === "string" && /^\d{1,15}$/.test(chainId));
  if (!isAuthorization || !hasPlace || !isComplete || !isKnownChain) throw noTransfer();
  checkChain(limits, Number(chainId));
  checkToken(limits, verifyingContract, BigInt(String(value)));
  checkDestination(limits, to);
}

interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, readonly (Field | null)[]>>;
  readonly primaryType: unknown;
  readonly message: Readonly<Record<string, unknown>>;
}

interface Field {
  readonly name?: unknown;
  readonly type?: unknown;
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function readTypedData(json: string): TypedData {
  try {
    const read = JSON.parse(json) as TypedData;
    if (read.domain && read.types && read.message) return read;
  } catch {
    // Not JSON.
  }
  throw new McpError("VALIDATION", "payload: is not typed data");
}

function checkChain({ chainIds }: TransferLimits, chainId: number): void {
  if (chainIds !== undefined && !chainIds.has(chainId)) throw exceeded("the chain is not on the list");
}

function checkDestination({ destinations }: TransferLimits, address: string): void {
  if (destinations !== undefined && !destinations.has(address.toLowerCase()))
    throw exceeded("the destination is not on the list");
}

function checkToken({ tokens }: TransferLimits, address: string, amount: bigint): void {
  const most = tokens.get(address.toLowerCase());
  if (most === undefined) throw exceeded("the token is not on the list");
  if (amount > most) throw exceeded("the amount of the token is above the limit");
}

function noTransfer(): McpError {
  return new McpError(
    "PAYLOAD_NOT_ALLOWED",
    "the owner of the signer allows only transfers of the coin, and of listed tokens by transfer or an EIP-3009 authorization",
  );
}

function exceeded(what: string): McpError {
  return new McpError("LIMIT_EXCEEDED", `${what}; only the owner of the signer can change that`);
}
