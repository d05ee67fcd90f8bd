import {
  getAddress,
  getBytes,
  SigningKey,
  Transaction,
  toQuantity,
  verifyAuthorization,
  verifyMessage,
  Wallet,
} from "ethers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TssError } from "../../../src/client/sdk/index.ts";
import { createRedact } from "../../../src/service/platform/telemetry/redact.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { EVERYONE } from "../../../src/signer/access/caller.ts";
import { createEthereumCalls } from "../../../src/signer/ethereum/ethereum-calls.ts";
import type { EthereumNode } from "../../../src/signer/ethereum/ethereum-node.ts";
import { RPC_CODES, RpcError } from "../../../src/signer/ethereum/rpc-error.ts";
import { readPayload } from "../../../src/signer/payloads/payload.ts";
import type { Signing } from "../../../src/signer/signing.ts";
import type { StoredKey } from "../../../src/signer/store/key-store.ts";
import { createLatch } from "../../component/transport/fake-services.ts";
import { knownKeyClient } from "../../support/crypto/known-key-client.ts";

const wallet = new Wallet(`0x${"42".repeat(32)}`);
const to = "0x00000000000000000000000000000000000000aa";
const key: StoredKey = {
  name: "a",
  curve: "SECP256K1",
  seed: new Uint8Array(32),
  createTimeMs: 0,
  progress: {
    kind: "active",
    dwallet: {
      dwalletId: "0x1",
      publicKeyHex: new SigningKey(wallet.privateKey).compressedPublicKey.slice(2),
      sessionDigestHex: "",
    },
  },
};
const call = {
  caller: EVERYONE,
  requestId: "r",
  signal: new AbortController().signal,
  timeoutMs: () => undefined,
};
const GWEI = 10n ** 9n;

let idempotencyKeys: string[];
let nodeCalls: string[];
let answers: Record<string, unknown>;
beforeEach(() => {
  idempotencyKeys = [];
  nodeCalls = [];
  answers = {
    eth_chainId: "0x5",
    eth_getTransactionCount: "0x7",
    eth_maxPriorityFeePerGas: "0x1",
    eth_getBlockByNumber: { baseFeePerGas: "0x3b9aca00" },
    eth_estimateGas: "0x5208",
    eth_sendRawTransaction: "0x00",
    eth_blockNumber: "0x10",
  };
});
afterEach(() => expect(new Set(idempotencyKeys).size).toBe(idempotencyKeys.length));

const node: EthereumNode = {
  async call(method) {
    nodeCalls.push(method);
    const answer = answers[method];
    if (answer instanceof Error) throw answer;
    return answer;
  },
};

describe("JSON-RPC", () => {
  it.each([
    ["{", RPC_CODES.malformedJson],
    ["[]", RPC_CODES.malformedRequest],
    [JSON.stringify(Array.from({ length: 21 }, () => ({}))), RPC_CODES.malformedRequest],
    ["7", RPC_CODES.malformedRequest],
    ["null", RPC_CODES.malformedRequest],
    [`{"jsonrpc":"2.0","id":{},"method":"eth_chainId"}`, RPC_CODES.malformedRequest],
    [`{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":{}}`, RPC_CODES.malformedRequest],
  ])("answers %.60s with the code %d", async (body, code) => {
    const reply = JSON.parse((await ethereum().serve(Buffer.from(body), call))!) as object;
    expect(reply).toMatchObject({ jsonrpc: "2.0", id: null, error: { code } });
  });

  it("answers a batch in order, and no notification", async () => {
    const calls = [
      { jsonrpc: "2.0", id: "a", method: "eth_chainId" },
      { jsonrpc: "2.0", method: "eth_chainId" },
      { jsonrpc: "2.0", id: null, method: "nothing_here" },
    ];
    const text = await ethereum().serve(Buffer.from(JSON.stringify(calls)), call);
    expect(JSON.parse(text!)).toMatchObject([
      { id: "a", result: "0x5" },
      { id: null, error: { code: RPC_CODES.unknownMethod } },
    ]);
    const silent = { jsonrpc: "2.0", method: "eth_chainId" };
    expect(await ethereum().serve(Buffer.from(JSON.stringify(silent)), call)).toBeUndefined();
  });

  it.each([
    "eth_sign",
    "eth_signTypedData",
    "eth_signTypedData_v3",
    "personal_unlockAccount",
    "admin_peers",
    "evm_mine",
  ])("never passes %s on", async (method) => {
    expect(await failureOf(method, [wallet.address, "0x00"])).toMatchObject({
      code: RPC_CODES.unknownMethod,
    });
    expect(nodeCalls).toEqual([]);
  });

  it("passes other methods on, and says which need a node if there is none", async () => {
    expect(await resultOf("eth_blockNumber", [])).toBe("0x10");
    expect(await failureOf("eth_blockNumber", [], null)).toMatchObject({
      code: RPC_CODES.unknownMethod,
    });
  });

  it("passes on no key of the node's URL, which the node may quote", async () => {
    const project = "0123456789abcdef0123456789abcdef";
    const text = `${project} has no requests left`;
    answers["eth_blockNumber"] = new RpcError(-32_005, text, { see: `https://node.example/v3/${project}` });
    const redact = createRedact([new Secret(`https://node.example/v3/${project}`)]);
    const { error } = await rpc(ethereum(node, signing, redact), "eth_blockNumber", []);
    expect(error).toMatchObject({ code: -32_005, message: "[redacted] has no requests left" });
    expect(JSON.stringify(error)).not.toContain(project);
  });

  it("shows nothing of an unexpected failure", async () => {
    answers["eth_blockNumber"] = new Error("http://user:password@node");
    expect(await failureOf("eth_blockNumber", [])).toEqual({
      code: RPC_CODES.internal,
      message: "internal error",
    });
  });
});

describe("a transaction", () => {
  it("is filled by the node, signed for the chain of the signer, and sent", async () => {
    const hash = await resultOf("eth_sendTransaction", [{ from: wallet.address, to, value: "0x1" }]);
    expect(hash).toMatch(/^0x[0-9a-f]{64}$/);
    const raw = String(await resultOf("eth_signTransaction", [{ from: wallet.address, to, value: "0x2" }]));
    expect(Transaction.from(raw)).toMatchObject({
      from: wallet.address,
      chainId: 5n,
      nonce: 7,
      gasLimit: 21_000n,
      maxFeePerGas: 2n * GWEI + 1n,
      maxPriorityFeePerGas: 1n,
    });
    expect(nodeCalls.filter((method) => method === "eth_sendRawTransaction")).toHaveLength(1);
  });

  it("without a node has all fields from its caller, who is told the missing one", async () => {
    const fields: Record<string, string> = {
      from: wallet.address,
      to,
      nonce: "0x0",
      gas: "0x5208",
      gasPrice: "0x9",
    };
    const raw = String(await resultOf("eth_signTransaction", [fields], null));
    expect(Transaction.from(raw)).toMatchObject({ from: wallet.address, type: 0, gasPrice: 9n, chainId: 5n });
    for (const name of ["nonce", "gas"]) {
      const { [name]: _, ...others } = fields;
      expect((await failureOf("eth_signTransaction", [others], null)).message).toContain(
        `${name}: is required`,
      );
    }
  });

  it.each([
    [{ from: to }, "from: is not the address"],
    [{ to: "0x12" }, "to: must be an address"],
    [{ value: "1" }, "value: must be a quantity"],
    [{ chainId: "0x1" }, "chainId: is 1"],
    [{ data: "0x01", input: "0x02" }, "input: differs"],
    [{ gasPrice: "0x1", maxFeePerGas: "0x1" }, "gasPrice: excludes"],
    [{ type: "0x3" }, "type: is not supported"],
    [{ type: "0x0" }, "gasPrice: is required for the type 0x0"],
    [{ type: "0x2", gasPrice: "0x1" }, "gasPrice: does not fit"],
    [{ type: "0x0", gasPrice: "0x1", accessList: [] }, "accessList: does not fit"],
    [{ blobVersionedHashes: ["0x01"] }, "blobVersionedHashes: is not supported"],
    [{ accessList: [{ address: 1 }] }, "accessList: must be"],
    [{ nonce: `0x${"f".repeat(20)}` }, "nonce: is too large"],
  ])("with %j is refused, and its field is named", async (fields, text) => {
    const failure = await failureOf("eth_sendTransaction", [{ from: wallet.address, to, ...fields }]);
    expect(failure).toMatchObject({ code: RPC_CODES.wrongParams, message: expect.stringContaining(text) });
    expect(idempotencyKeys).toEqual([]);
  });

  it.each([
    ["gas", { eth_estimateGas: "0xffffffffff" }],
    ["the tip", { eth_maxPriorityFeePerGas: "0xffffffffffffff" }],
    ["the base fee", { eth_getBlockByNumber: { baseFeePerGas: "0xffffffffffffff" } }],
  ])("is not signed if the node's choice of %s would burn the coins", async (_, lies) => {
    Object.assign(answers, lies);
    const failure = await failureOf("eth_sendTransaction", [{ from: wallet.address, to }]);
    expect(failure.data).toMatchObject({ reason: "FEE_ABOVE_LIMIT" });
    expect(idempotencyKeys).toEqual([]);
  });

  it("is legacy on a chain without EIP-1559, and has the type that its caller names", async () => {
    Object.assign(answers, { eth_getBlockByNumber: {}, eth_gasPrice: "0x9" });
    const legacy = String(await resultOf("eth_signTransaction", [{ from: wallet.address, to }]));
    expect(Transaction.from(legacy)).toMatchObject({ type: 0, gasPrice: 9n, from: wallet.address });
    const fields = { from: wallet.address, to, gasPrice: "0x8", type: "0x1" };
    const listed = String(await resultOf("eth_signTransaction", [fields]));
    expect(Transaction.from(listed)).toMatchObject({ type: 1, gasPrice: 8n, from: wallet.address });
  });

  it("is signed with any fee that its caller gives", async () => {
    const fees = { gas: "0x5208", maxFeePerGas: "0xffffffffffffff", maxPriorityFeePerGas: "0x1" };
    await resultOf("eth_signTransaction", [{ from: wallet.address, to, ...fees }]);
  });

  it("is not signed with the nonce of another chain", async () => {
    answers["eth_chainId"] = "0x1";
    const failure = await failureOf("eth_sendTransaction", [{ from: wallet.address, to }]);
    expect(failure.data).toMatchObject({ reason: "ETHEREUM_CHAIN_MISMATCH" });
    expect(idempotencyKeys).toEqual([]);
  });

  it("that the node does not confirm has its hash in the error, so that the caller can look for it", async () => {
    answers["eth_sendRawTransaction"] = new RpcError(-32_000, "the Ethereum node does not answer", {
      reason: "X",
    });
    const failure = await failureOf("eth_sendTransaction", [{ from: wallet.address, to }]);
    expect(failure.data).toEqual({ reason: "X", transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  });

  it("takes its nonce only after the account's earlier one is sent", async () => {
    const latch = createLatch();
    const order: string[] = [];
    const slow: EthereumNode = {
      async call(method) {
        order.push(method);
        if (method === "eth_sendRawTransaction" && order.length < 8) await latch.wait();
        return answers[method];
      },
    };
    const calls = ethereum(slow);
    const both = [1, 2].map((value) =>
      rpc(calls, "eth_sendTransaction", [{ from: wallet.address, to, value: `0x${value}` }]),
    );
    await latch.entered;
    expect(order.filter((method) => method === "eth_getTransactionCount")).toHaveLength(1);
    latch.open();
    await Promise.all(both);
    expect(order.filter((method) => method === "eth_getTransactionCount")).toHaveLength(2);
  });
});

describe("a signature", () => {
  it("that is asked for twice has one idempotency key, and so one charge", async () => {
    const message = ["hello", wallet.address];
    const first = await resultOf("personal_sign", message);
    const [firstKey] = idempotencyKeys.splice(0);
    expect(await resultOf("personal_sign", message)).toBe(first);
    expect(idempotencyKeys).toEqual([firstKey]);
    await resultOf("personal_sign", ["0x68656c6c", wallet.address]);
    expect(idempotencyKeys).toHaveLength(2);
  });

  it("is tried once more if an earlier request has failed for good and was refunded, and not otherwise", async () => {
    const failing = (refunded: string): Pick<Signing, "sign"> => ({
      async sign({ idempotencyKey }) {
        idempotencyKeys.push(idempotencyKey);
        throw new TssError("NETWORK_REJECTED", "rejected", { metadata: { refunded } });
      },
    });
    for (const [refunded, count] of [
      ["true", 2],
      ["false", 1],
    ] as const) {
      idempotencyKeys = [];
      const calls = ethereum(node, failing(refunded));
      expect(await rpc(calls, "personal_sign", ["x", wallet.address])).toMatchObject({
        error: { data: { reason: "NETWORK_REJECTED" } },
      });
      expect(idempotencyKeys).toHaveLength(count);
    }
  });

  it.each([
    ["personal_sign", ["hello", to], "params[1]"],
    ["personal_sign", ["", wallet.address], "params[0]"],
    ["personal_sign", ["x".repeat(16_001), wallet.address], "params[0]"],
    ["eth_signTypedData_v4", [wallet.address, "x".repeat(70_000)], "params[1]"],
    ["eth_signTypedData_v4", [wallet.address], "evm_typed_data"],
  ])("by %s with wrong parameters is refused by name", async (method, params, field) => {
    const failure = await failureOf(method, params);
    expect(failure).toMatchObject({ code: RPC_CODES.wrongParams, message: expect.stringContaining(field) });
  });
});

describe("Clef's methods", () => {
  it("tell the version, list the accounts, and sign a text as personal_sign does", async () => {
    expect(await resultOf("account_version", [])).toMatch(/^6\./);
    expect(await resultOf("account_list", [])).toEqual([wallet.address]);
    const signature = await resultOf("account_signData", ["text/plain", wallet.address, "0x6869"]);
    expect(verifyMessage("hi", String(signature))).toBe(wallet.address);
  });

  it.each([
    ["application/x-clique-header", "0x00"],
    ["text/validator", "0x00"],
    ["data/typed", "0x00"],
  ])("refuse %s, which nobody can read", async (kind, data) => {
    const failure = await failureOf("account_signData", [kind, wallet.address, data]);
    expect(failure).toMatchObject({
      code: RPC_CODES.wrongParams,
      message: expect.stringContaining("params[0]"),
    });
    expect(idempotencyKeys).toEqual([]);
  });

  it("sign a transaction as geth gives it, and describe it field by field", async () => {
    const common = {
      from: wallet.address,
      to,
      gas: "0x5208",
      value: "0x1",
      nonce: "0x7",
      data: null,
      input: "0x",
    };
    const dynamic = {
      ...common,
      gasPrice: null,
      maxFeePerGas: "0x9",
      maxPriorityFeePerGas: "0x0",
      chainId: "0x5",
    };
    const listed = { ...common, gasPrice: "0x9", maxFeePerGas: null, accessList: [], chainId: "0x5" };
    const legacy = { ...common, gasPrice: "0x9", chainId: "0x5" };
    for (const [type, fields] of [dynamic, listed, legacy].entries()) {
      const signed = await resultOf("account_signTransaction", [fields, "transfer()"], null);
      const { raw, tx } = signed as { raw: string; tx: Record<string, string> };
      const read = Transaction.from(raw);
      expect(read).toMatchObject({ from: wallet.address, nonce: 7, type: 2 - type });
      expect(tx).toMatchObject({
        hash: read.hash,
        to,
        input: "0x",
        nonce: "0x7",
        value: "0x1",
        gas: "0x5208",
      });
      const { r, s } = read.signature!;
      expect([tx["type"], BigInt(tx["r"]!), BigInt(tx["s"]!)]).toEqual([
        `0x${2 - type}`,
        BigInt(r),
        BigInt(s),
      ]);
      const v =
        type === 2 ? read.signature!.legacyChainId! * 2n + 35n + BigInt(read.signature!.yParity) : undefined;
      expect(BigInt(tx["v"]!)).toBe(v ?? BigInt(read.signature!.yParity));
      const [fee, tip] = type === 0 ? ["0x9", "0x0"] : [null, null];
      expect(tx).toMatchObject({ maxFeePerGas: fee, maxPriorityFeePerGas: tip });
    }
  });
});

describe("a transaction with authorizations (EIP-7702)", () => {
  const authority = new Wallet(`0x${"43".repeat(32)}`);
  const authorize = (chainId: number) => {
    const { signature, ...given } = authority.authorizeSync({ address: to, nonce: 3, chainId });
    const { r, s, yParity } = signature;
    return {
      address: given.address,
      chainId: toQuantity(chainId),
      nonce: "0x3",
      yParity: toQuantity(yParity),
      r,
      s,
    };
  };

  it.each([5, 0])("for the chain %d has them as their account has signed them", async (chainId) => {
    const fields = { from: wallet.address, to, type: "0x4", authorizationList: [authorize(chainId)] };
    const read = Transaction.from(String(await resultOf("eth_signTransaction", [fields])));
    expect(read).toMatchObject({ type: 4, from: wallet.address, nonce: 7 });
    const [given] = read.authorizationList!;
    expect(verifyAuthorization(given!, given!.signature)).toBe(authority.address);
    expect(given).toMatchObject({ address: getAddress(to), chainId: BigInt(chainId), nonce: 3n });
  });

  it.each([
    [{ authorizationList: [] }, "authorizationList: must be a list"],
    [
      { authorizationList: Array.from({ length: 17 }, () => authorize(5)) },
      "authorizationList: must be a list",
    ],
    [{ authorizationList: [authorize(1)] }, "authorizationList[0].chainId"],
    [
      { authorizationList: [authorize(5), { ...authorize(5), address: "0x" }] },
      "authorizationList[1].address",
    ],
    [{ authorizationList: [{ ...authorize(5), r: undefined }] }, "authorizationList[0].r"],
    [{ authorizationList: [{ ...authorize(5), yParity: "0x1b" }] }, "authorizationList[0].yParity"],
    [{ authorizationList: [null] }, "authorizationList[0].address"],
    [{ authorizationList: [authorize(5)], gasPrice: "0x1" }, "gasPrice: does not fit"],
    [{ authorizationList: [authorize(5)], type: "0x2" }, "authorizationList: does not fit the type 0x2"],
    [{ authorizationList: [authorize(5)], to: undefined, data: "0x00" }, "to: is required"],
    [{ type: "0x4" }, "authorizationList: is required"],
  ])("and wrong fields is refused by name (case %#)", async (fields, text) => {
    const failure = await failureOf("eth_sendTransaction", [{ from: wallet.address, to, ...fields }]);
    expect(failure).toMatchObject({ code: RPC_CODES.wrongParams, message: expect.stringContaining(text) });
    expect(idempotencyKeys).toEqual([]);
  });
});

/** Signs as the network does. */
const signing: Pick<Signing, "sign"> = {
  async sign({ payload, idempotencyKey }) {
    const read = await readPayload(payload, key);
    idempotencyKeys.push(idempotencyKey);
    return await read.sign({ ...knownKeyClient("SECP256K1", getBytes(wallet.privateKey)), idempotencyKey });
  },
};

/** The calls of a signer, with a node unless it is null. */
function ethereum(of: EthereumNode | null = node, signs = signing, redact = createRedact()) {
  const common = {
    keys: { list: () => [key] },
    signing: signs,
    chainId: 5,
    redact,
    callerNames: () => [""],
  };
  return createEthereumCalls({ ...common, node: of ?? undefined, maxFeeWei: 10n ** 17n });
}

type Failure = { readonly code: number; readonly message: string; readonly data?: unknown };

async function rpc(calls: ReturnType<typeof ethereum>, method: string, params: readonly unknown[]) {
  const body = Buffer.from(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  return JSON.parse((await calls.serve(body, call))!) as {
    readonly result?: unknown;
    readonly error?: Failure;
  };
}

async function resultOf(method: string, params: readonly unknown[], of?: null): Promise<unknown> {
  const { result, error } = await rpc(ethereum(of), method, params);
  if (error !== undefined) throw new Error(error.message);
  return result;
}

async function failureOf(method: string, params: readonly unknown[], of?: null): Promise<Failure> {
  const { error } = await rpc(ethereum(of), method, params);
  if (error === undefined) throw new Error("not refused");
  return error;
}
