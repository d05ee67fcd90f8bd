import {
  appendTransactionMessageInstruction,
  blockhash,
  compileTransaction,
  createKeyPairSignerFromPrivateKeyBytes,
  createSignableMessage,
  createTransactionMessage,
  address as kitAddress,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from "@solana/kit";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TssError } from "../../../../src/client/sdk/index.ts";
import {
  createDWalletSolanaSigner,
  dwalletSolanaSigner,
} from "../../../../src/client/signers/solana/index.ts";
import { solanaAddress } from "../../../../src/protocol/signatures/addresses.ts";
import { type KnownKeyClient, knownKeyClient } from "../../../support/crypto/known-key-client.ts";

const RUNS = { numRuns: 40, seed: 23 };
const PRIVATE_KEY = new Uint8Array(32).fill(0x3c);
const known = (key = PRIVATE_KEY): KnownKeyClient => knownKeyClient("ED25519", key);
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const messageOf = (data: Uint8Array, hash: Uint8Array) =>
  pipe(
    createTransactionMessage({ version: 0 }),
    (message) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: blockhash(solanaAddress(hash)), lastValidBlockHeight: 100n },
        message,
      ),
    (message) =>
      appendTransactionMessageInstruction(
        { programAddress: kitAddress("11111111111111111111111111111111"), data },
        message,
      ),
  );

describe("Solana Kit's signer of a dWallet", () => {
  it("equals the kit's own signer of the same key for transactions and messages", () =>
    fc.assert(
      fc.asyncProperty(bytes(32), bytes(32), fc.uint8Array({ maxLength: 200 }), async (key, hash, data) => {
        const client = known(key);
        const signer = dwalletSolanaSigner(client, client.key);
        const own = await createKeyPairSignerFromPrivateKeyBytes(key);
        expect(signer.address).toBe(own.address);
        const message = setTransactionMessageFeePayer(own.address, messageOf(data, hash));
        const transactions = [compileTransaction(message)] as unknown as Parameters<
          typeof own.signTransactions
        >[0];
        expect(await signer.signTransactions(transactions)).toEqual(await own.signTransactions(transactions));
        const messages = [createSignableMessage(data), createSignableMessage("text")];
        expect(await signer.signMessages(messages)).toEqual(await own.signMessages(messages));
      }),
      RUNS,
    ));

  it("signs a whole transaction message as its fee payer", async () => {
    const client = known();
    const signer = await createDWalletSolanaSigner(client, client.key);
    const own = await createKeyPairSignerFromPrivateKeyBytes(PRIVATE_KEY);
    const base = messageOf(new Uint8Array(3), new Uint8Array(32).fill(9));
    const [signed, expected] = await Promise.all(
      [signer, own].map((payer) =>
        signTransactionMessageWithSigners(setTransactionMessageFeePayerSigner(payer, base)),
      ),
    );
    expect(signed).toEqual(expected);
  });

  it("requests one signature for each message, each under its own idempotency key", async () => {
    const client = known();
    const signer = dwalletSolanaSigner(client, client.key, { idempotencyKey: "first" });
    const messages = [createSignableMessage("one"), createSignableMessage("one")];
    await signer.signMessages(messages);
    await signer.withOptions({ idempotencyKey: "second" }).signMessages(messages);
    await signer.withOptions({ idempotencyKey: undefined }).signMessages(messages);
    expect(client.asked.map(({ options }) => options.idempotencyKey)).toEqual([
      ...["first/0", "first/1", "second/0", "second/1", undefined, undefined],
    ]);
    expect(client.asked[0]?.args).toMatchObject({
      signatureAlgorithm: "EdDSA",
      hashScheme: "SHA512",
      message: new TextEncoder().encode("one"),
    });
  });

  it("reports the progress of each, and the tokens to resume them", async () => {
    const client = known();
    const told: unknown[] = [];
    const signer = dwalletSolanaSigner(client, client.key).withOptions({
      onProgress: (stage, elapsedMs) => told.push([stage, elapsedMs]),
      onResumeToken: (token) => void told.push(token),
    });
    await signer.signMessages([createSignableMessage("one"), createSignableMessage("two")]);
    expect(told).toEqual([["reserve", 0], "token 0", ["reserve", 1], "token 1"]);
  });

  it("ends with the kit's abort signal", async () => {
    const client = known();
    const abort = new AbortController();
    abort.abort(new Error("the user closed the page"));
    const signer = dwalletSolanaSigner(client, client.key);
    const options = { abortSignal: abort.signal };
    await expect(signer.signMessages([createSignableMessage("one")], options)).rejects.toBe(
      abort.signal.reason,
    );
    expect(client.asked).toEqual([]);
  });

  it("fails with the first failure of several", async () => {
    const client = known();
    client.failure = new TssError("INSUFFICIENT_CREDIT", "the balance is 0");
    const signer = dwalletSolanaSigner(client, client.key);
    await expect(signer.signMessages([createSignableMessage("one")])).rejects.toBe(client.failure);
  });

  it("refuses a transaction that needs no signature of this key before it requests one", async () => {
    const client = known();
    const signer = dwalletSolanaSigner(client, client.key);
    const other = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(32).fill(5));
    const message = setTransactionMessageFeePayer(
      other.address,
      messageOf(new Uint8Array(3), new Uint8Array(32).fill(9)),
    );
    const transactions = [compileTransaction(message)] as unknown as Parameters<
      typeof signer.signTransactions
    >[0];
    await expect(signer.signTransactions(transactions)).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "transactions[0]" },
    });
    expect(client.asked).toEqual([]);
  });

  it("refuses a given public key that differs from the chain's before it requests a signature", async () => {
    const client = known();
    const publicKeyHex = known(new Uint8Array(32).fill(5)).chainKeyHex;
    const signer = dwalletSolanaSigner(client, { ...client.key, publicKeyHex });
    await expect(signer.signMessages([createSignableMessage("one")])).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "publicKeyHex" },
    });
    expect(client.asked).toEqual([]);
  });
});
