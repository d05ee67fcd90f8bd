import {
  type Hex,
  hexToBytes,
  isAddress,
  isHex,
  serializeTransaction,
  type TransactionSerializable,
} from "viem";
import { readAuthorizations, type SignedAuthorization, toViemAuthorization } from "./authorization-list.ts";
import { wrongParam } from "./rpc-error.ts";

/** A transaction as a caller of JSON-RPC gives it. Absent fields are the node's to fill. */
export interface TransactionRequest {
  readonly from: string;
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly nonce?: bigint;
  readonly gas?: bigint;
  readonly gasPrice?: bigint;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly accessList?: readonly { readonly address: Hex; readonly storageKeys: readonly Hex[] }[];
  /** Signed by the accounts that delegate their code (EIP-7702). All numbers are quantities in hex. */
  readonly authorizationList?: readonly SignedAuthorization[];
}

/** A transaction whose fields are all known. */
export type FilledTransaction = TransactionRequest &
  Required<Pick<TransactionRequest, "nonce" | "gas">> &
  (
    | Required<Pick<TransactionRequest, "gasPrice">>
    | Required<Pick<TransactionRequest, "maxFeePerGas" | "maxPriorityFeePerGas">>
  );

/**
 * Reads the parameter of `eth_sendTransaction`. Refuses each field that it does not know: a transaction without it
 * would be another one. Throws an RpcError that names the field.
 */
export function readTransactionRequest(param: unknown, chainId: number): TransactionRequest {
  if (typeof param !== "object" || param === null)
    throw wrongParam("params[0]", "must be a transaction object");
  const given = param as Readonly<Record<string, unknown>>;
  for (const [name, value] of Object.entries(given)) {
    if (!KNOWN_FIELDS.has(name) && value !== undefined && value !== null)
      throw wrongParam(name, "is not supported");
  }
  const from = given["from"];
  if (typeof from !== "string") throw wrongParam("from", "must be the address of a key");
  const to = hexOf(given, "to");
  if (to !== undefined && !isAddress(to, { strict: false })) throw wrongParam("to", "must be an address");
  const [data, input] = [hexOf(given, "data"), hexOf(given, "input")];
  if (data !== undefined && input !== undefined && data !== input)
    throw wrongParam("input", "differs from data; give one of them");
  const chain = quantityOf(given, "chainId");
  if (chain !== undefined && chain !== BigInt(chainId))
    throw wrongParam("chainId", `is ${chain}, and this signer signs for the chain ${chainId}`);
  const request = {
    from,
    to,
    data: data ?? input,
    value: quantityOf(given, "value"),
    nonce: quantityOf(given, "nonce"),
    gas: quantityOf(given, "gas"),
    gasPrice: quantityOf(given, "gasPrice"),
    maxFeePerGas: quantityOf(given, "maxFeePerGas"),
    maxPriorityFeePerGas: quantityOf(given, "maxPriorityFeePerGas"),
    accessList: accessListOf(given["accessList"]) ?? (given["type"] === "0x1" ? [] : undefined),
    authorizationList: readAuthorizations(given["authorizationList"], chainId),
  };
  const hasDynamicFee = request.maxFeePerGas !== undefined || request.maxPriorityFeePerGas !== undefined;
  if (request.gasPrice !== undefined && hasDynamicFee)
    throw wrongParam("gasPrice", "excludes maxFeePerGas and maxPriorityFeePerGas");
  checkType(given["type"], request);
  if (request.authorizationList !== undefined && to === undefined)
    throw wrongParam("to", "is required with an authorizationList");
  if (to === undefined && request.data === undefined) throw wrongParam("to", "is required without data");
  const known = Object.entries(request).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known) as unknown as TransactionRequest;
}

const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...["from", "to", "data", "input", "value", "nonce", "gas", "gasPrice", "maxFeePerGas"],
  ...["maxPriorityFeePerGas", "accessList", "authorizationList", "chainId", "type"],
]);

/** The fees and the access list determine the type. A given type must be the same. */
function checkType(type: unknown, { gasPrice, accessList, authorizationList }: GivenFields): void {
  const isSetCode = authorizationList !== undefined;
  if (isSetCode && gasPrice !== undefined) throw wrongParam("gasPrice", "does not fit an authorizationList");
  if (type === undefined || type === null) return;
  if (type !== "0x0" && type !== "0x1" && type !== "0x2" && type !== "0x4")
    throw wrongParam("type", "is not supported: give 0x0, 0x1, 0x2 or 0x4");
  if (isSetCode !== (type === "0x4"))
    throw wrongParam(
      "authorizationList",
      isSetCode ? `does not fit the type ${type}` : "is required for the type 0x4",
    );
  const isDynamic = type === "0x2" || type === "0x4";
  if (isDynamic && gasPrice !== undefined) throw wrongParam("gasPrice", `does not fit the type ${type}`);
  if (!isDynamic && gasPrice === undefined) throw wrongParam("gasPrice", `is required for the type ${type}`);
  if (type === "0x0" && accessList !== undefined) throw wrongParam("accessList", "does not fit the type 0x0");
}

/** The fields that determine a type. */
interface GivenFields {
  readonly gasPrice: bigint | undefined;
  readonly accessList: unknown;
  readonly authorizationList: unknown;
}

/** Serializes a transaction without its signature. */
export function serializeUnsigned(filled: FilledTransaction, chainId: number): Uint8Array {
  const { from: _, nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas, ...given } = filled;
  const { accessList, authorizationList, ...rest } = given;
  if (nonce > BigInt(Number.MAX_SAFE_INTEGER)) throw wrongParam("nonce", "is too large");
  const common = { ...rest, chainId, nonce: Number(nonce), gas };
  const fees =
    gasPrice === undefined
      ? {
          type: authorizationList === undefined ? "eip1559" : "eip7702",
          maxFeePerGas,
          maxPriorityFeePerGas,
          ...(accessList && { accessList }),
          ...(authorizationList && { authorizationList: authorizationList.map(toViemAuthorization) }),
        }
      : accessList === undefined
        ? { type: "legacy", gasPrice }
        : { type: "eip2930", gasPrice, accessList };
  try {
    return hexToBytes(serializeTransaction({ ...common, ...fees } as TransactionSerializable));
  } catch (error) {
    const text = error instanceof Error ? error.message.split("\n", 1)[0]! : "cannot be serialized";
    throw wrongParam("params[0]", text.slice(0, 200));
  }
}

/** Reads a quantity in hex. */
function quantityOf(given: Readonly<Record<string, unknown>>, name: string): bigint | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw wrongParam(name, "must be a quantity in hex, such as 0x5208");
  return BigInt(value);
}

function hexOf(given: Readonly<Record<string, unknown>>, name: string): Hex | undefined {
  const value = given[name];
  if (value === undefined || value === null) return undefined;
  if (!isHex(value) || value.length % 2 !== 0) throw wrongParam(name, "must be octets in hex");
  return value;
}

function accessListOf(value: unknown): TransactionRequest["accessList"] {
  if (value === undefined || value === null) return undefined;
  const isList =
    Array.isArray(value) &&
    value.every(
      (entry: unknown) =>
        typeof entry === "object" &&
        entry !== null &&
        "address" in entry &&
        isHex(entry.address) &&
        "storageKeys" in entry &&
        Array.isArray(entry.storageKeys) &&
        entry.storageKeys.every((key: unknown) => isHex(key)),
    );
  if (!isList) throw wrongParam("accessList", "must be a list of addresses with storage keys");
  return value as NonNullable<TransactionRequest["accessList"]>;
}
