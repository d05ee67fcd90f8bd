import { createHash, randomUUID } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { bytesToHex, getAddress, hexToBytes, isHex, keccak256 } from "viem";
import { type SignRequest, SignRequestSchema } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { TssError } from "../../client/sdk/index.ts";
import { hexToBytes as octetsOf } from "../../protocol/bytes.ts";
import { ethereumAddress } from "../../protocol/signatures/addresses.ts";
import type { Redact } from "../../service/platform/telemetry/redact.ts";
import { createFairPlaces } from "../access/fair-places.ts";
import type { Keys } from "../keys.ts";
import type { SigningCall } from "../request-signer.ts";
import type { Signing } from "../signing.ts";
import { describeTransaction } from "./describe-transaction.ts";
import type { EthereumNode } from "./ethereum-node.ts";
import { fillTransaction, quantityOf, requireFilled } from "./fill-transaction.ts";
import { RPC_CODES, RpcError, toRpcError, wrongParam } from "./rpc-error.ts";
import { serveJsonRpc } from "./serve-json-rpc.ts";
import { readTransactionRequest, serializeUnsigned, type TransactionRequest } from "./transaction-request.ts";

/** Ethereum's JSON-RPC over the keys of a signer. */
export interface EthereumCalls {
  /** Answers a body of JSON-RPC. Returns undefined if no reply is due. */
  serve(body: Uint8Array, call: SigningCall): Promise<string | undefined>;
}

/** Creates the JSON-RPC of the keys on SECP256K1. */
export function createEthereumCalls(options: EthereumOptions): EthereumCalls {
  const { keys, signing, chainId, node, maxFeeWei, redact, callerNames } = options;
  const nodePlaces = createFairPlaces(MAX_NODE_CALLS, callerNames, "calls to the Ethereum node");
  const sendPlaces = createFairPlaces(MAX_SENDING, callerNames, "transactions");
  const addresses = new Map<string, string>();
  const sending = new Map<string, Promise<unknown>>();
  let isChainChecked = false;

  /** Yields each key of the caller that can sign for Ethereum, with its address. */
  function* accounts({
    caller,
  }: SigningCall): Generator<{ readonly name: string; readonly address: string }> {
    for (const { name, curve, progress } of keys.list()) {
      if (curve !== "SECP256K1" || progress.kind !== "active" || !caller.sees(name)) continue;
      const { publicKeyHex } = progress.dwallet;
      const address = addresses.get(publicKeyHex) ?? ethereumAddress(octetsOf(publicKeyHex));
      addresses.set(publicKeyHex, address);
      yield { name, address };
    }
  }

  function accountOf(param: unknown, field: string, call: SigningCall) {
    const wanted = typeof param === "string" ? param.toLowerCase() : "";
    for (const account of accounts(call)) if (account.address.toLowerCase() === wanted) return account;
    throw wrongParam(field, "is not the address of an active key that the caller may use");
  }

  /** Signs with one charge for the same payload, also if the caller repeats the call after an interruption. */
  async function sign(name: string, payload: SignRequest["payload"], call: SigningCall) {
    const { case: kind, value } = payload as { readonly case: string; readonly value: Uint8Array | string };
    const digest = createHash("sha256").update(`${name}\n${kind}\n`).update(value).digest("hex");
    const request = create(SignRequestSchema, { name, payload, idempotencyKey: `ethereum-${digest}` });
    try {
      return await signing.sign(request, call);
    } catch (error) {
      // The request of an earlier call has failed for good and was refunded.
      if (!(error instanceof TssError) || error.metadata["refunded"] !== "true") throw error;
      return await signing.sign({ ...request, idempotencyKey: `ethereum-${randomUUID()}` }, call);
    }
  }

  async function askNode(method: string, params: readonly unknown[], call: SigningCall): Promise<unknown> {
    if (node === undefined)
      throw new RpcError(
        RPC_CODES.unknownMethod,
        "the method needs an Ethereum node, and the signer has none",
      );
    return await nodePlaces.use(call.caller.name, 1, () => node.call(method, params, call.signal));
  }

  /** A node of another chain would have the signer sign with another chain's nonce and fees. */
  async function checkChain(call: SigningCall): Promise<void> {
    if (isChainChecked) return;
    const found = quantityOf(await askNode("eth_chainId", [], call), "eth_chainId");
    if (found !== BigInt(chainId)) {
      const text = `the Ethereum node is of the chain ${found}, and this signer signs for the chain ${chainId}`;
      throw new RpcError(RPC_CODES.failed, text, { reason: "ETHEREUM_CHAIN_MISMATCH" });
    }
    isChainChecked = true;
  }

  async function signTransaction(name: string, request: TransactionRequest, call: SigningCall) {
    if (node !== undefined) await checkChain(call);
    const ask = (method: string, params: readonly unknown[]) => askNode(method, params, call);
    const filled =
      node === undefined ? requireFilled(request) : await fillTransaction(request, ask, maxFeeWei);
    const value = serializeUnsigned(filled, chainId);
    return (await sign(name, { case: "evmTransaction", value }, call)).signedEvmTransaction!;
  }

  /** Sends the transactions of one account one after the other, because each takes the next nonce. */
  async function sendTransaction(param: unknown, call: SigningCall): Promise<string> {
    const request = readTransactionRequest(param, chainId);
    const { name, address } = accountOf(request.from, "from", call);
    const send = async () => {
      call.signal.throwIfAborted();
      const signed = await signTransaction(name, request, call);
      const hash = keccak256(signed);
      try {
        await askNode("eth_sendRawTransaction", [bytesToHex(signed)], call);
      } catch (error) {
        // The node may have the transaction all the same: the caller can look for it.
        const { code, message, data } = toRpcError(error, redact);
        throw new RpcError(code, message, { ...(data as object | undefined), transactionHash: hash });
      }
      return hash;
    };
    return await sendPlaces.use(call.caller.name, 1, async () => {
      const earlier = sending.get(address) ?? Promise.resolve();
      const own = earlier.then(send, send);
      sending.set(address, own);
      try {
        return await own;
      } finally {
        if (sending.get(address) === own) sending.delete(address);
      }
    });
  }

  async function signMessage(message: unknown, field: string, address: unknown, call: SigningCall) {
    const { name } = accountOf(address, "params[1]", call);
    const value = messageOf(message, field);
    return bytesToHex((await sign(name, { case: "evmMessage", value }, call)).signature!);
  }

  async function answer(method: string, params: readonly unknown[], call: SigningCall): Promise<unknown> {
    call.caller.checkEthereum();
    switch (method) {
      case "account_version":
        return CLEF_VERSION;
      case "account_list":
      case "eth_accounts":
      case "eth_requestAccounts":
        return [...accounts(call)].map(({ address }) => getAddress(address));
      case "eth_chainId":
        return `0x${chainId.toString(16)}`;
      case "personal_sign":
        return await signMessage(params[0], "params[0]", params[1], call);
      case "account_signData":
        if (params[0] !== "text/plain")
          throw wrongParam("params[0]", "must be text/plain: other data is what nobody can read");
        return await signMessage(params[2], "params[2]", params[1], call);
      case "account_signTypedData":
      case "eth_signTypedData_v4": {
        const { name } = accountOf(params[0], "params[0]", call);
        const value = typeof params[1] === "string" ? params[1] : JSON.stringify(params[1] ?? "");
        if (value.length > MAX_TYPED_DATA)
          throw wrongParam("params[1]", `has more than ${MAX_TYPED_DATA} characters`);
        return bytesToHex((await sign(name, { case: "evmTypedData", value }, call)).signature!);
      }
      case "account_signTransaction":
      case "eth_signTransaction": {
        const request = readTransactionRequest(params[0], chainId);
        const signed = await signTransaction(accountOf(request.from, "from", call).name, request, call);
        return method === "eth_signTransaction" ? bytesToHex(signed) : describeTransaction(signed);
      }
      case "eth_sendTransaction":
        return await sendTransaction(params[0], call);
      default:
        if (REFUSED.has(method))
          throw new RpcError(RPC_CODES.unknownMethod, `${method} is refused: ${WHY_REFUSED}`);
        if (!PASSED.test(method)) throw new RpcError(RPC_CODES.unknownMethod, "there is no such method");
        return await askNode(method, params, call);
    }
  }

  return {
    serve: (body, call) =>
      serveJsonRpc(
        body,
        (method, params) => answer(method, params, call),
        (error) => toRpcError(error, redact),
      ),
  };
}

/** Options of {@link createEthereumCalls}. */
interface EthereumOptions {
  readonly keys: Pick<Keys, "list">;
  readonly signing: Pick<Signing, "sign">;
  readonly chainId: number;
  /** Undefined if the signer only signs. */
  readonly node: EthereumNode | undefined;
  /** The most that a transaction may cost in fees that the node has a part in. */
  readonly maxFeeWei: bigint;
  readonly redact: Redact;
  /** The names of all callers, which share the places. */
  readonly callerNames: () => readonly string[];
}

const MAX_NODE_CALLS = 64;
/** The most transactions that are sent or wait for an earlier one of their account. */
const MAX_SENDING = 256;
const MAX_TYPED_DATA = 65_536;
const MAX_MESSAGE_BYTES = 16_000;
/** The version of Clef's external API whose methods `account_*` are. */
const CLEF_VERSION = "6.1.0";
/** The methods that the node answers. Others could make a node with accounts sign, or change it. */
const PASSED = /^(?:eth|net|web3)_[A-Za-z0-9]{1,60}$/;
const REFUSED: ReadonlySet<string> = new Set([
  "eth_sign",
  "eth_signTypedData",
  "eth_signTypedData_v1",
  "eth_signTypedData_v3",
]);
const WHY_REFUSED = "it signs what nobody can read; use personal_sign or eth_signTypedData_v4";

/** Reads a personal message: octets in hex, or text. */
function messageOf(param: unknown, field: string): Uint8Array {
  if (typeof param !== "string" || param === "") throw wrongParam(field, "must be a message");
  const isOctets = isHex(param) && param.length % 2 === 0;
  const message = isOctets ? hexToBytes(param) : new TextEncoder().encode(param);
  if (message.length < 1 || message.length > MAX_MESSAGE_BYTES)
    throw wrongParam(field, `must have 1 to ${MAX_MESSAGE_BYTES} bytes`);
  return message;
}
