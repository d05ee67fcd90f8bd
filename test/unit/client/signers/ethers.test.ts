import { getBytes, hexlify, JsonRpcProvider, type TransactionRequest, toUtf8Bytes, Wallet } from "ethers";
import fc from "fast-check";
import type { TransactionSerializable } from "viem";
import { describe, expect, it } from "vitest";
import { TssError } from "../../../../src/client/sdk/index.ts";
import { DWalletSigner } from "../../../../src/client/signers/ethers/index.ts";
import { type KnownKeyClient, knownKeyClient } from "../../../support/crypto/known-key-client.ts";
import { address as anyAddress, privateKey, transaction, typedData } from "./evm-arbitraries.ts";

const RUNS = { numRuns: 40, seed: 17 };
const PRIVATE_KEY = `0x${"3c".repeat(32)}`;
const known = (key = PRIVATE_KEY): KnownKeyClient => knownKeyClient("SECP256K1", getBytes(key));
const pair = (key: string) => {
  const client = known(key);
  return [new DWalletSigner(client, client.key), new Wallet(key)] as const;
};
const TRANSFER = { type: 2, chainId: 1, nonce: 4, gasLimit: 21_000, to: `0x${"42".repeat(20)}`, value: 7 };

describe("ethers' signer of a dWallet equals ethers' own wallet of the same key", () => {
  it("for its address and for messages, as text and as bytes", () =>
    fc.assert(
      fc.asyncProperty(
        privateKey,
        fc.oneof(fc.string({ unit: "grapheme" }), fc.uint8Array()),
        async (key, message) => {
          const [signer, wallet] = pair(key);
          expect(await signer.getAddress()).toBe(wallet.address);
          expect(await signer.signMessage(message)).toBe(await wallet.signMessage(message));
        },
      ),
      RUNS,
    ));

  it("for transactions of every type, with and without blobs", () =>
    fc.assert(
      fc.asyncProperty(privateKey, transaction, fc.boolean(), async (key, fields, namesSender) => {
        const [signer, wallet] = pair(key);
        const request = requestOf(fields);
        if (namesSender) request.from = wallet.address;
        expect(await signer.signTransaction(request)).toBe(await wallet.signTransaction(request));
      }),
      { ...RUNS, numRuns: 150 },
    ));

  it("for typed data", () =>
    fc.assert(
      fc.asyncProperty(privateKey, typedData, async (key, { domain, types, message }) => {
        const [signer, wallet] = pair(key);
        const signature = await signer.signTypedData(domain, types, message);
        expect(signature).toBe(await wallet.signTypedData(domain, types, message));
      }),
      RUNS,
    ));

  it("for authorizations of EIP-7702", () =>
    fc.assert(
      fc.asyncProperty(
        privateKey,
        anyAddress,
        fc.nat({ max: 2 ** 40 }),
        fc.nat({ max: 300 }),
        async (key, address, chainId, nonce) => {
          const [signer, wallet] = pair(key);
          const request = { address, chainId, nonce };
          expect(await signer.authorize(request)).toEqual(await wallet.authorize(request));
        },
      ),
      RUNS,
    ));
});

describe("ethers' signer of a dWallet", () => {
  it("sends the message itself, never its hash, and the caller's options", async () => {
    const client = known();
    const { signal } = new AbortController();
    const { publicKeyHex: _, ...key } = client.key;
    const signer = new DWalletSigner(client, key, null, { idempotencyKey: "first", signal });
    await signer.signMessage("hello");
    await signer.withOptions({ idempotencyKey: "second" }).connect(null).signMessage("hello");
    expect(client.asked[0]?.args).toEqual({
      ...key,
      curve: "SECP256K1",
      signatureAlgorithm: "ECDSASecp256k1",
      hashScheme: "KECCAK256",
      message: toUtf8Bytes("\x19Ethereum Signed Message:\n5hello"),
    });
    expect(client.asked.map(({ options }) => options)).toEqual([
      { idempotencyKey: "first", signal },
      { idempotencyKey: "second", signal },
    ]);
  });

  it("reads its public key from the chain, proves it with the seed, and caches it", async () => {
    const client = known();
    const { publicKeyHex: _, ...key } = client.key;
    const failure = new TssError("CHAIN_UNAVAILABLE", "no answer");
    const { readKey } = client;
    client.readKey = () => Promise.reject(failure);
    const signer = new DWalletSigner(client, key);
    await expect(signer.getAddress()).rejects.toBe(failure);
    client.readKey = readKey;
    const { address } = new Wallet(PRIVATE_KEY);
    expect(await signer.getAddress()).toBe(address);
    expect(await signer.withOptions({ idempotencyKey: "one" }).getAddress()).toBe(address);
    expect(client.read).toEqual([{ ...key, curve: "SECP256K1" }]);
  });

  it("does not end with the signal of the call that created it", async () => {
    const client = known();
    const { publicKeyHex: _, ...key } = client.key;
    const abort = new AbortController();
    const { readKey } = client;
    client.readKey = async (args, options) => {
      await Promise.resolve();
      options?.signal?.throwIfAborted();
      return await readKey(args, options);
    };
    const signer = new DWalletSigner(client, key, null, { signal: abort.signal });
    const ended = expect(signer.getAddress()).rejects.toThrow("aborted");
    const other = signer.withOptions({ signal: undefined }).getAddress();
    abort.abort();
    await ended;
    expect(await other).toBe(new Wallet(PRIVATE_KEY).address);
  });

  it("makes two signatures for two requests", async () => {
    const client = known();
    const signer = new DWalletSigner(client, client.key);
    await signer.signTransaction(TRANSFER);
    await signer.signTransaction(TRANSFER);
    expect(client.asked.map(({ options }) => options.idempotencyKey)).toEqual([undefined, undefined]);
  });

  it("refuses a transaction from another address and names the field, like ethers' own wallet", async () => {
    const client = known();
    const request = { ...TRANSFER, from: `0x${"42".repeat(20)}` };
    const refusal = { code: "INVALID_ARGUMENT", argument: "tx.from", value: request.from };
    await expect(new Wallet(PRIVATE_KEY).signTransaction(request)).rejects.toMatchObject(refusal);
    const signer = new DWalletSigner(client, client.key);
    await expect(signer.signTransaction(request)).rejects.toMatchObject(refusal);
    expect(client.asked).toEqual([]);
  });

  it("refuses a given public key that differs from the chain's before it requests a signature", async () => {
    const client = known();
    const publicKeyHex = known(`0x${"5a".repeat(32)}`).chainKeyHex;
    const signer = new DWalletSigner(client, { ...client.key, publicKeyHex });
    await expect(signer.signMessage("hello")).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "publicKeyHex" },
    });
    expect(client.asked).toEqual([]);
  });

  it("keeps its provider, and passes on the client's errors", async () => {
    const client = known();
    client.failure = new TssError("INSUFFICIENT_CREDIT", "the balance is 0");
    const provider = new JsonRpcProvider("http://127.0.0.1:1", 1, { staticNetwork: true });
    const signer = new DWalletSigner(client, client.key, provider).withOptions({ idempotencyKey: "one" });
    expect(signer.provider).toBe(provider);
    expect(signer.connect(null).provider).toBeNull();
    await expect(signer.signTransaction(TRANSFER)).rejects.toBe(client.failure);
    provider.destroy();
  });

  it("refuses names in typed data if no provider resolves them", async () => {
    const client = known();
    const types = { One: [{ name: "who", type: "address" }] };
    const signer = new DWalletSigner(client, client.key);
    await expect(signer.signTypedData({}, types, { who: "alice.eth" })).rejects.toMatchObject({
      code: "UNSUPPORTED_OPERATION",
    });
  });
});

const TYPES = { legacy: 0, eip2930: 1, eip1559: 2, eip4844: 3, eip7702: 4 } as const;

/** Converts a transaction from viem's form to ethers'. */
function requestOf(transaction: TransactionSerializable): TransactionRequest {
  const { type, gas, to, sidecars, blobVersionedHashes, authorizationList, ...fields } = transaction;
  const blobs = sidecars === false ? undefined : sidecars;
  return {
    ...fields,
    type: TYPES[type as keyof typeof TYPES],
    gasLimit: gas ?? null,
    to: to ?? null,
    ...(blobs !== undefined && {
      blobs: blobs.map(({ blob, commitment, proof }) => ({
        data: hexlify(blob),
        commitment: hexlify(commitment),
        proof: hexlify(proof),
      })),
    }),
    ...(blobs === undefined && blobVersionedHashes !== undefined && { blobVersionedHashes }),
    ...(authorizationList !== undefined && {
      authorizationList: authorizationList.map(({ address, chainId, nonce, r, s, yParity }) => ({
        address,
        chainId,
        nonce,
        signature: { r: r!, s: s!, yParity: yParity === 1 ? 1 : 0 },
      })),
    }),
  } as unknown as TransactionRequest;
}
