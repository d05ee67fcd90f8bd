import {
  type Abi,
  bytesToHex,
  decodeFunctionData,
  erc20Abi,
  formatEther,
  type Hex,
  parseAbi,
  parseTransaction,
  type TransactionSerializable,
} from "viem";
import type { Explanation } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";
import { untrusted } from "./untrusted.ts";

/** Explains an unsigned transaction of Ethereum. Throws McpError VALIDATION if it is none. */
export function explainEvmTransaction(octets: Uint8Array): Explanation {
  let transaction: TransactionSerializable;
  try {
    transaction = parseTransaction(bytesToHex(octets));
  } catch {
    throw new McpError("VALIDATION", "payload: is not a serialized transaction of Ethereum");
  }
  const { chainId, nonce = 0, to, value = 0n, data = "0x", gas = 0n } = transaction;
  const price = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
  const words = [`On the chain ${chainId ?? "without an id"}, as the account's transaction ${nonce}.`];
  const warnings: string[] = [];
  if (value > 0n || data === "0x")
    words.push(`Sends ${coins(value)} of the chain's coin to ${to ?? "a new contract"}.`);
  words.push(`Pays up to ${coins(gas * price)} for gas.`);
  const { authorizationList = [] } = transaction as { readonly authorizationList?: readonly object[] };
  for (const authorization of authorizationList.slice(0, MAX_SHOWN) as readonly {
    readonly address?: string;
  }[])
    words.push(`Gives an account the code of the contract ${authorization.address} (EIP-7702).`);
  if (authorizationList.length > 0)
    warnings.push("The contract of an EIP-7702 authorization can do everything with its account.");
  if (authorizationList.length > MAX_SHOWN)
    warnings.push(`${authorizationList.length - MAX_SHOWN} more authorizations are not explained.`);
  if (to === undefined || to === null) words.push(`Makes a contract with ${sizeOf(data)} bytes of code.`);
  else if (data !== "0x") explainCall(to, data, words, warnings);
  return { words, warnings };
}

const MAX_SHOWN = 64;

/**
 * Explains typed data (EIP-712). It reads only what is signed: another struct can have the name of a standard's, and a
 * message can have fields that its struct has not. Throws McpError VALIDATION if it is none.
 */
export function explainTypedData(json: string): Explanation {
  let read: TypedData;
  try {
    read = JSON.parse(json) as TypedData;
    const isComplete = read.domain && read.types && read.message && typeof read.primaryType === "string";
    if (!isComplete) throw new Error("incomplete");
  } catch {
    throw new McpError("VALIDATION", "payload: is not typed data");
  }
  const { domain, message, primaryType } = read;
  const contract = isOfDomain(read, "verifyingContract") ? address(domain["verifyingContract"]) : "(none)";
  const chain = isOfDomain(read, "chainId") ? wholeNumber(domain["chainId"]) : undefined;
  const words = [`Typed data for the contract ${contract} on the chain ${chain ?? "(none)"}.`];
  const warnings: string[] = [];
  const amount = wholeNumber(message["value"]);
  switch (structOf(read)) {
    case AUTHORIZATION:
      words.push(
        `Lets whoever has it move ${units(amount)} of that token to ${address(message["to"])} (EIP-3009).`,
      );
      break;
    case PERMIT:
      words.push(`Allows ${address(message["spender"])} to take ${units(amount)} of that token (EIP-2612).`);
      warnIfUnlimited(amount, warnings);
      if (amount === undefined) warnings.push("The amount cannot be read, and may be UNLIMITED.");
      break;
    default:
      words.push("Its meaning is known to the contract alone; the content is below.");
      warnings.push("A signature of typed data can move tokens without a transaction of the account.");
  }
  const content = { domain, primaryType, message };
  return { words, warnings, content: untrusted(JSON.stringify(content)) };
}

interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly types: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, unknown>>;
  readonly primaryType: unknown;
}

/** EIP-3009. */
const AUTHORIZATION = [
  "address from",
  "address to",
  "uint256 value",
  "uint256 validAfter",
  "uint256 validBefore",
  "bytes32 nonce",
];
/** EIP-2612. Other contracts have a Permit without an amount. */
const PERMIT = ["address owner", "address spender", "uint256 value", "uint256 nonce", "uint256 deadline"];
const STRUCTS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["TransferWithAuthorization", AUTHORIZATION],
  ["ReceiveWithAuthorization", AUTHORIZATION],
  ["Permit", PERMIT],
]);

/** Returns the fields of a standard's struct; undefined for any other struct. */
function structOf({ types, primaryType }: TypedData): readonly string[] | undefined {
  const standard = STRUCTS.get(primaryType);
  const written = fieldsOf(types[String(primaryType)]).map(({ name, type }) => `${type} ${name}`);
  return JSON.stringify(written) === JSON.stringify(standard) ? standard : undefined;
}

/** Returns true if the signature commits to a field of the domain. */
function isOfDomain({ domain, types }: TypedData, name: string): boolean {
  const given = types["EIP712Domain"];
  if (given !== undefined) return fieldsOf(given).some((field) => field.name === name);
  // A chain id as text is left out of a domain whose type is not given.
  return name !== "chainId" || typeof domain["chainId"] === "number";
}

/** Returns the fields of a struct. What is no field has no name. */
function fieldsOf(struct: unknown): readonly { readonly name: string; readonly type: string }[] {
  if (!Array.isArray(struct)) return [];
  return (struct as readonly (Readonly<Record<string, unknown>> | null)[]).map((field) => {
    const [name, type] = [field?.["name"], field?.["type"]];
    return typeof name === "string" && typeof type === "string" ? { name, type } : { name: "", type: "" };
  });
}

const CALLS = [
  ...erc20Abi,
  ...parseAbi([
    "function increaseAllowance(address spender, uint256 addedValue)",
    "function setApprovalForAll(address operator, bool approved)",
    "function safeTransferFrom(address from, address to, uint256 tokenId)",
  ]),
] as const satisfies Abi;

function explainCall(to: string, data: Hex, words: string[], warnings: string[]): void {
  const call = decode(data);
  switch (call?.functionName) {
    case "transfer":
      words.push(`Moves ${units(call.args[1])} of the token ${to} to ${call.args[0]}.`);
      break;
    case "transferFrom":
      words.push(`Moves ${units(call.args[2])} of the token ${to} from ${call.args[0]} to ${call.args[1]}.`);
      break;
    case "approve":
    case "increaseAllowance":
      words.push(`Allows ${call.args[0]} to take ${units(call.args[1])} of the token ${to}, at any time.`);
      warnIfUnlimited(call.args[1], warnings);
      break;
    case "setApprovalForAll":
      words.push(
        call.args[1]
          ? `Allows ${call.args[0]} to take every item of the collection ${to}, at any time.`
          : `Ends that ${call.args[0]} may take items of the collection ${to}.`,
      );
      if (call.args[1]) warnings.push("The approval is for everything in the collection, without a limit.");
      break;
    case "safeTransferFrom":
      words.push(
        `Moves the item ${call.args[2]} of the collection ${to} from ${call.args[0]} to ${call.args[1]}.`,
      );
      break;
    default:
      words.push(`Calls the function ${data.slice(0, 10)} of the contract ${to} with ${sizeOf(data)} bytes.`);
      warnings.push("Nobody can tell what this call does without the code of the contract.");
  }
}

function decode(data: Hex) {
  try {
    return decodeFunctionData({ abi: CALLS, data });
  } catch {
    return undefined;
  }
}

/** Contracts of tokens treat such amounts as endless, or have fewer units. */
const UNLIMITED = 2n ** 95n;

function warnIfUnlimited(amount: bigint | undefined, warnings: string[]): void {
  if (amount !== undefined && amount >= UNLIMITED)
    warnings.push(
      "The approval is UNLIMITED: the spender can take every token that the account has or will have.",
    );
}

const coins = (wei: bigint) => `${formatEther(wei)} (${wei} wei)`;
const sizeOf = (data: Hex) => (data.length - 2) / 2;

function units(amount: bigint | undefined): string {
  if (amount === undefined) return "an unreadable number of units";
  return amount >= UNLIMITED ? `an UNLIMITED number of units (${amount})` : `${amount} smallest units`;
}

function address(value: unknown): string {
  return typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value) ? value : "(none)";
}

function wholeNumber(value: unknown): bigint | undefined {
  if (typeof value === "string")
    return /^(?:\d{1,78}|0x[0-9a-f]{1,64})$/i.test(value) ? BigInt(value) : undefined;
  return Number.isSafeInteger(value) && Number(value) >= 0 ? BigInt(Number(value)) : undefined;
}
