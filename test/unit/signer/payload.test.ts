import {
  getBytes,
  hexlify,
  Signature,
  Transaction,
  TypedDataEncoder,
  verifyAuthorization,
  verifyTypedData,
  Wallet,
} from "ethers";
import { describe, expect, it } from "vitest";
import type { SignRequest } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../gen/proto/tss/v1/types_pb.ts";
import type { Curve } from "../../../src/client/sdk/index.ts";
import { type FinishedPayload, type Payload, readPayload } from "../../../src/signer/payloads/payload.ts";
import { SignerError } from "../../../src/signer/signer-error.ts";
import type { StoredKey } from "../../../src/signer/store/key-store.ts";
import { knownKeyClient } from "../../support/crypto/known-key-client.ts";

const wallet = new Wallet(`0x${"42".repeat(32)}`);
const network = knownKeyClient("SECP256K1", getBytes(wallet.privateKey));
const to = "0x00000000000000000000000000000000000000aa";

describe("an unsigned transaction of Ethereum", () => {
  const common = { to, value: 7n, nonce: 3, gasLimit: 21_000n, chainId: 5n, data: "0x0102" };
  const fees = { maxFeePerGas: 9n, maxPriorityFeePerGas: 1n };
  it.each([
    ["legacy", { ...common, type: 0, gasPrice: 9n }],
    ["EIP-2930", { ...common, type: 1, gasPrice: 9n, accessList: [{ address: to, storageKeys: [] }] }],
    ["EIP-1559", { ...common, ...fees, type: 2 }],
    [
      "EIP-7702",
      {
        ...common,
        ...fees,
        type: 4,
        authorizationList: [wallet.authorizeSync({ address: to, nonce: 1, chainId: 5 })],
      },
    ],
    ["EIP-1559 that makes a contract", { ...common, ...fees, type: 2, to: null }],
  ])("of the kind %s is signed as it is", async (_, fields) => {
    const { to: receiver, ...others } = fields;
    const unsigned = Transaction.from({ ...others, ...(receiver && { to: receiver }) });
    const { signedEvmTransaction } = await signed(
      await read("evmTransaction", bytes(unsigned.unsignedSerialized)),
    );
    const made = Transaction.from(`0x${Buffer.from(signedEvmTransaction!).toString("hex")}`);
    expect(made.from).toBe(wallet.address);
    expect(made.unsignedSerialized).toBe(unsigned.unsignedSerialized);
    expect(made.chainId).toBe(5n);
  });

  it.each([
    ["is already signed", () => wallet.signTransaction({ ...common, ...fees, type: 2 })],
    ["has no chain id", async () => Transaction.from({ type: 0, to, gasPrice: 1n }).unsignedSerialized],
    [
      "has blobs (EIP-4844)",
      async () => {
        const blobs = { maxFeePerBlobGas: 1n, blobVersionedHashes: [`0x01${"00".repeat(31)}`] };
        return Transaction.from({ ...common, ...fees, ...blobs, type: 3 }).unsignedSerialized;
      },
    ],
    ["is not a serialized transaction", async () => "0x02c0"],
    ["is not a serialized transaction", async () => "0x7f00"],
  ])("that %s is refused", async (why, make) => {
    const octets = bytes(await make());
    await expect(read("evmTransaction", octets)).rejects.toThrow(`evm_transaction: ${why}`);
  });
});

describe("typed data of Ethereum", () => {
  const domain = { name: "Mail", version: "1", chainId: 1, verifyingContract: to };
  const types = {
    Mail: [
      { name: "amount", type: "uint256" },
      { name: "lines", type: "string[]" },
    ],
  };
  const mail = {
    amount: "115792089237316195423570985008687907853269984665640564039457584007913129639935",
    lines: ["a", ""],
  };

  it("is signed so that ethers recovers the signer", async () => {
    const json = JSON.stringify(TypedDataEncoder.getPayload(domain, types, mail));
    const { signature } = await signed(await read("evmTypedData", json));
    expect([27, 28]).toContain(signature![64]);
    expect(verifyTypedData(domain, types, mail, `0x${Buffer.from(signature!).toString("hex")}`)).toBe(
      wallet.address,
    );
  });

  it("with a number that JSON cannot keep is refused, because another amount would be signed", async () => {
    const payload = TypedDataEncoder.getPayload(domain, types, { ...mail, amount: 1 }) as object;
    const jsonOf = (amount: string) => JSON.stringify(payload).replace('"amount":"1"', `"amount":${amount}`);
    await read("evmTypedData", jsonOf("9007199254740991"));
    await expect(read("evmTypedData", jsonOf("9007199254740993"))).rejects.toThrow("above 2^53 as text");
  });

  it.each(["", "null", "[]", "{}", `{"types":{},"primaryType":"X","message":{}}`, "[".repeat(60_000)])(
    "is refused as %.20j, with the field and a short reason",
    async (json) => {
      const failure: unknown = await read("evmTypedData", json).catch((error: unknown) => error);
      if (!(failure instanceof SignerError)) throw new Error("not refused by name", { cause: failure });
      expect(failure).toMatchObject({ reason: "VALIDATION", violations: [{ field: "evm_typed_data" }] });
      expect(failure.message.length).toBeLessThan(300);
    },
  );
});

it("a raw message has the algorithm that the key's curve allows, and no other", async () => {
  const message = Uint8Array.of(109);
  const value = (signatureAlgorithm: SignatureAlgorithm, hashScheme: Hash) =>
    ({ $typeName: "tss.signer.v1.RawMessage", message, signatureAlgorithm, hashScheme }) as const;
  const taproot = value(SignatureAlgorithm.Taproot, Hash.SHA256);
  const { signature } = await signed(await read("raw", taproot));
  expect(signature).toHaveLength(64);
  expect(network.asked.at(-1)?.args).toMatchObject({ signatureAlgorithm: "Taproot", message });
  for (const wrong of [
    value(SignatureAlgorithm.Taproot, Hash.KECCAK256),
    value(SignatureAlgorithm.EdDSA, Hash.SHA512),
  ])
    await expect(read("raw", wrong)).rejects.toMatchObject({
      reason: "UNSUPPORTED_ALGORITHM",
      violations: [{ field: "raw.signature_algorithm" }],
    });
});

it("an authorization of Ethereum (EIP-7702) recovers to the signer for ethers", async () => {
  const authorization = { chainId: 5n, nonce: 3n, address: to };
  const { signature } = await signed(
    await read("evmAuthorization", { ...authorization, address: bytes(to) }),
  );
  const [r, s] = [signature!.slice(0, 32), signature!.slice(32, 64)].map((part) => hexlify(part));
  const parts = Signature.from({ r: r!, s: s!, yParity: signature![64] as 0 | 1 });
  expect(verifyAuthorization(authorization, parts)).toBe(wallet.address);
});

it.each(["evmMessage", "evmTransaction", "evmAuthorization", "bitcoinPsbt"] as const)(
  "%s needs a key on SECP256K1",
  async (kind) => {
    await expect(read(kind, Buffer.from("m"), "ED25519")).rejects.toMatchObject({ reason: "VALIDATION" });
  },
);

function read(kind: string, value: unknown, curve: Curve = "SECP256K1"): Promise<Payload> {
  const key: StoredKey = {
    name: "k",
    curve,
    seed: new Uint8Array(32),
    createTimeMs: 0,
    progress: { kind: "creating" },
  };
  return readPayload({ case: kind, value } as SignRequest["payload"], key);
}

/** Signs as the network does. */
function signed(payload: Payload): Promise<FinishedPayload> {
  return payload.sign({ ...network, idempotencyKey: "k" });
}

function bytes(hex: string): Uint8Array {
  return getBytes(hex);
}
