import fc from "fast-check";
import {
  BaseError,
  createWalletClient,
  custom,
  type Hex,
  hexToBytes,
  keccak256,
  nonceManager,
  serializeTransaction,
  toPrefixedMessage,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { mainnet } from "viem/chains";
import { describe, expect, it } from "vitest";
import { TssError } from "../../../../src/client/sdk/index.ts";
import {
  createDWalletAccount,
  DWalletSigningError,
  dwalletAccount,
  findSigningError,
} from "../../../../src/client/signers/viem/index.ts";
import { type KnownKeyClient, knownKeyClient } from "../../../support/crypto/known-key-client.ts";
import { address as anyAddress, privateKey, transaction, typedData } from "./evm-arbitraries.ts";

const RUNS = { numRuns: 60, seed: 13 };
const PRIVATE_KEY: Hex = `0x${"3c".repeat(32)}`;
const expected = privateKeyToAccount(PRIVATE_KEY);
const known = (key: Hex = PRIVATE_KEY): KnownKeyClient => knownKeyClient("SECP256K1", hexToBytes(key));
const TRANSFER = {
  type: "eip1559",
  chainId: 1,
  nonce: 4,
  gas: 21_000n,
  maxFeePerGas: 9n,
  maxPriorityFeePerGas: 1n,
  to: `0x${"42".repeat(20)}`,
  value: 7n,
} as const;

describe("viem's account of a dWallet equals viem's own account of the same key", () => {
  const pair = (key: Hex) => {
    const client = known(key);
    return [dwalletAccount(client, client.key), privateKeyToAccount(key)] as const;
  };

  it("for its address and its public key", () =>
    fc.assert(
      fc.property(privateKey, (key) => {
        const [account, own] = pair(key);
        expect([account.address, account.publicKey]).toEqual([own.address, own.publicKey]);
      }),
      RUNS,
    ));

  it("for messages, as text and as bytes", () =>
    fc.assert(
      fc.asyncProperty(
        privateKey,
        fc.oneof(
          fc.string({ unit: "grapheme" }),
          fc.uint8Array().map((raw) => ({ raw })),
        ),
        async (key, message) => {
          const [account, own] = pair(key);
          expect(await account.signMessage({ message })).toBe(await own.signMessage({ message }));
        },
      ),
      RUNS,
    ));

  it("for transactions of every type, with and without sidecars", () =>
    fc.assert(
      fc.asyncProperty(privateKey, transaction, async (key, fields) => {
        const [account, own] = pair(key);
        expect(await account.signTransaction(fields)).toBe(await own.signTransaction(fields));
      }),
      { ...RUNS, numRuns: 200 },
    ));

  it("for typed data", () =>
    fc.assert(
      fc.asyncProperty(privateKey, typedData, async (key, data) => {
        const [account, own] = pair(key);
        expect(await account.signTypedData(data)).toBe(await own.signTypedData(data));
      }),
      RUNS,
    ));

  it("for typed data that is only a domain", async () => {
    const [account, own] = pair(PRIVATE_KEY);
    const domain = { name: "one", chainId: 5n };
    const types = {
      EIP712Domain: [
        { name: "name", type: "string" },
        { name: "chainId", type: "uint256" },
      ],
    } as const;
    const data = { domain, types, primaryType: "EIP712Domain" } as const;
    expect(await account.signTypedData(data)).toBe(await own.signTypedData(data));
  });

  it("for authorizations of EIP-7702", () =>
    fc.assert(
      fc.asyncProperty(
        privateKey,
        anyAddress,
        fc.nat({ max: 2 ** 40 }),
        fc.nat({ max: 300 }),
        fc.constantFrom("address", "contractAddress"),
        async (key, delegate, chainId, nonce, name) => {
          const [account, own] = pair(key);
          const request =
            name === "address"
              ? { address: delegate, chainId, nonce }
              : { contractAddress: delegate, chainId, nonce };
          expect(await account.signAuthorization(request)).toEqual(await own.signAuthorization(request));
        },
      ),
      RUNS,
    ));

  it("with a chain's own serializer", async () => {
    const [account, own] = pair(PRIVATE_KEY);
    const serializer: typeof serializeTransaction = (fields, signature) =>
      serializeTransaction({ ...fields, value: 1n }, signature);
    expect(await account.signTransaction(TRANSFER, { serializer })).toBe(
      await own.signTransaction(TRANSFER, { serializer }),
    );
  });
});

describe("viem's account of a dWallet", () => {
  it("sends the message itself, never its hash, and the caller's options", async () => {
    const client = known();
    const { signal } = new AbortController();
    const account = dwalletAccount(client, client.key, { idempotencyKey: "first", signal });
    await account.signMessage({ message: "hello" });
    await account.withOptions({ idempotencyKey: "second" }).signMessage({ message: "hello" });
    expect(client.asked[0]?.args).toEqual({
      seed: client.key.seed,
      dwalletId: client.key.dwalletId,
      curve: "SECP256K1",
      signatureAlgorithm: "ECDSASecp256k1",
      hashScheme: "KECCAK256",
      message: hexToBytes(toPrefixedMessage("hello")),
    });
    expect(client.asked.map(({ options }) => options)).toEqual([
      { idempotencyKey: "first", signal },
      { idempotencyKey: "second", signal },
    ]);
  });

  it("returns the transaction that it signed, even if the caller changes the object meanwhile", async () => {
    const client = known();
    const fields = { ...TRANSFER, value: 7n };
    const signed = dwalletAccount(client, client.key).signTransaction(fields);
    fields.value = 9n;
    expect(await signed).toBe(await expected.signTransaction(TRANSFER));
  });

  it("makes two signatures for two requests", async () => {
    const client = known();
    const account = await createDWalletAccount(client, client.key);
    await account.signTransaction(TRANSFER);
    await account.signTransaction(TRANSFER);
    expect(client.asked.map(({ options }) => options.idempotencyKey)).toEqual([undefined, undefined]);
  });

  it("refuses to sign a hash, because the network hashes the message itself", async () => {
    const client = known();
    expect(dwalletAccount(client, client.key).sign).toBeUndefined();
  });

  it("reads its public key from the chain, and verifies it with the seed", async () => {
    const client = known();
    const { publicKeyHex: _, ...key } = client.key;
    expect((await createDWalletAccount(client, key)).address).toBe(expected.address);
    expect(client.read).toEqual([{ ...key, curve: "SECP256K1" }]);
  });

  it("refuses a given public key that differs from the chain's before it requests a signature", async () => {
    const client = known();
    const other = known(`0x${"5a".repeat(32)}`);
    const account = dwalletAccount(client, { ...client.key, publicKeyHex: other.chainKeyHex });
    const error = await account.signMessage({ message: "hello" }).catch((cause: unknown) => cause);
    expect(findSigningError(error)).toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "publicKeyHex" },
    });
    expect(client.asked).toEqual([]);
  });

  it.each(["", "02", `05${"11".repeat(32)}`, `0x${"11".repeat(33)}`])(
    "refuses %j as a public key",
    (publicKeyHex) => {
      const client = known();
      expect(() => dwalletAccount(client, { ...client.key, publicKeyHex })).toThrow(DWalletSigningError);
    },
  );

  it("refuses a transaction from another address and names the field", async () => {
    const client = known();
    const account = dwalletAccount(client, client.key);
    const from = privateKeyToAccount(`0x${"5a".repeat(32)}`).address;
    await expect(account.signTransaction({ ...TRANSFER, from } as typeof TRANSFER)).rejects.toMatchObject({
      name: "DWalletSigningError",
      reason: "VALIDATION",
      metadata: { field: "from" },
    });
    const own = { ...TRANSFER, from: account.address.toLowerCase() } as unknown as typeof TRANSFER;
    await account.signTransaction(own);
    expect(client.asked).toHaveLength(1);
  });

  it("fails with a viem error that viem's own errors contain", async () => {
    const client = known();
    const metadata = { priceMicroUsd: "10000" };
    const facts = { metadata, requestId: "r-7", retryAfterMs: 5, resumeToken: "token" };
    client.failure = new TssError("INSUFFICIENT_CREDIT", "the balance is 0", facts);
    const wallet = createWalletClient({
      account: dwalletAccount(client, client.key),
      chain: mainnet,
      transport: custom({
        request: async ({ method }) => {
          if (method === "eth_chainId") return "0x1";
          throw new Error(`unexpected ${method}`);
        },
      }),
    });
    const error = await wallet.sendTransaction(TRANSFER).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(BaseError);
    expect(error).not.toBeInstanceOf(DWalletSigningError);
    expect((error as BaseError).walk((inner) => inner instanceof DWalletSigningError)).not.toBeNull();
    expect(findSigningError(error)).toMatchObject({
      reason: "INSUFFICIENT_CREDIT",
      ...facts,
      cause: client.failure,
      message: expect.stringContaining("the balance is 0"),
    });
    expect(findSigningError(new BaseError("another"))).toBeUndefined();
    expect(findSigningError(new Error("another"))).toBeUndefined();
  });

  it("fails in the same form if the chain cannot be read", async () => {
    const client = known();
    const failure = new TssError("CHAIN_UNAVAILABLE", "no answer");
    client.readKey = () => Promise.reject(failure);
    const { publicKeyHex: _, ...key } = client.key;
    await expect(createDWalletAccount(client, key)).rejects.toMatchObject({ cause: failure });
    await expect(
      dwalletAccount(client, client.key).signTypedData({
        domain: {},
        types: { One: [{ name: "a", type: "bytes32" }] },
        primaryType: "One",
        message: { a: keccak256("0x") },
      }),
    ).rejects.toBeInstanceOf(DWalletSigningError);
  });

  it("passes viem's nonce manager on", async () => {
    const client = known();
    expect(dwalletAccount(client, client.key, { nonceManager }).nonceManager).toBe(nonceManager);
  });
});
