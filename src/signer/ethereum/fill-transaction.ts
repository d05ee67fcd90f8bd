import { numberToHex } from "viem";
import { RPC_CODES, RpcError, wrongParam } from "./rpc-error.ts";
import type { FilledTransaction, TransactionRequest } from "./transaction-request.ts";

/** Calls the node. */
export type AskNode = (method: string, params: readonly unknown[]) => Promise<unknown>;

/**
 * Asks the node for the fields that the caller left out. Throws an RpcError if the fee that a node has a part in is above
 * `maxFeeWei`: a node that lies must not burn the account's coins.
 */
export async function fillTransaction(
  request: TransactionRequest,
  ask: AskNode,
  maxFeeWei: bigint,
): Promise<FilledTransaction> {
  const nonce =
    request.nonce ?? (await askQuantity(ask, "eth_getTransactionCount", [request.from, "pending"]));
  const fees = await fillFees(request, ask);
  const gas = request.gas ?? (await askQuantity(ask, "eth_estimateGas", [encode(request)]));
  const price = "gasPrice" in fees ? fees.gasPrice : fees.maxFeePerGas;
  const isGiven = request.gas !== undefined && (request.gasPrice ?? request.maxFeePerGas) !== undefined;
  if (!isGiven && gas * price > maxFeeWei) {
    const text = `the fee may be up to ${gas * price} wei, above the signer's limit of ${maxFeeWei}; give gas and the fee yourself`;
    throw new RpcError(RPC_CODES.failed, text, { reason: "FEE_ABOVE_LIMIT" });
  }
  return { ...request, ...fees, nonce, gas };
}

async function fillFees(
  { gasPrice, maxFeePerGas, maxPriorityFeePerGas }: TransactionRequest,
  ask: AskNode,
): Promise<
  { readonly gasPrice: bigint } | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
> {
  if (gasPrice !== undefined) return { gasPrice };
  if (maxFeePerGas !== undefined) {
    const tip = maxPriorityFeePerGas ?? (await askQuantity(ask, "eth_maxPriorityFeePerGas", []));
    return { maxFeePerGas, maxPriorityFeePerGas: tip < maxFeePerGas ? tip : maxFeePerGas };
  }
  const block = (await ask("eth_getBlockByNumber", ["latest", false])) as {
    readonly baseFeePerGas?: unknown;
  };
  // A chain without EIP-1559.
  if (block?.baseFeePerGas === undefined && maxPriorityFeePerGas === undefined)
    return { gasPrice: await askQuantity(ask, "eth_gasPrice", []) };
  const base = quantityOf(block?.baseFeePerGas, "baseFeePerGas");
  const tip = maxPriorityFeePerGas ?? (await askQuantity(ask, "eth_maxPriorityFeePerGas", []));
  // Room for six blocks of rising fees, as in other wallets.
  return { maxFeePerGas: 2n * base + tip, maxPriorityFeePerGas: tip };
}

/** Encodes a request for `eth_estimateGas`. */
function encode(request: TransactionRequest): Readonly<Record<string, unknown>> {
  const entries = Object.entries(request).map(([name, value]: [string, unknown]) => [
    name,
    typeof value === "bigint" ? numberToHex(value) : value,
  ]);
  return Object.fromEntries(entries) as Readonly<Record<string, unknown>>;
}

async function askQuantity(ask: AskNode, method: string, params: readonly unknown[]): Promise<bigint> {
  return quantityOf(await ask(method, params), method);
}

/** Reads a quantity of the node's. */
export function quantityOf(value: unknown, what: string): bigint {
  if (typeof value === "string" && /^0x[0-9a-fA-F]{1,64}$/.test(value)) return BigInt(value);
  throw new RpcError(RPC_CODES.failed, `the Ethereum node gives no quantity for ${what}`, {
    reason: "ETHEREUM_UNAVAILABLE",
  });
}

/** Checks that a request without a node has all fields. */
export function requireFilled(request: TransactionRequest): FilledTransaction {
  const { nonce, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request;
  if (nonce === undefined) throw wrongParam("nonce", REQUIRED);
  if (gas === undefined) throw wrongParam("gas", REQUIRED);
  if (gasPrice !== undefined) return { ...request, nonce, gas, gasPrice };
  if (maxFeePerGas === undefined) throw wrongParam("maxFeePerGas", REQUIRED);
  if (maxPriorityFeePerGas === undefined) throw wrongParam("maxPriorityFeePerGas", REQUIRED);
  return { ...request, nonce, gas, maxFeePerGas, maxPriorityFeePerGas };
}

const REQUIRED = "is required, because the signer has no Ethereum node";
