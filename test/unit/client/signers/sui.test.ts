import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { verifyPersonalMessageSignature, verifyTransactionSignature } from "@mysten/sui/verify";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TssError } from "../../../../src/client/sdk/index.ts";
import { createDWalletSuiSigner, DWalletSuiSigner } from "../../../../src/client/signers/sui/index.ts";
import { knownKeyClient } from "../../../support/crypto/known-key-client.ts";

const RUNS = { numRuns: 40, seed: 19 };
const PRIVATE_KEY = new Uint8Array(32).fill(0x3c);
const CURVES = [
  ["ED25519", Ed25519Keypair],
  ["SECP256K1", Secp256k1Keypair],
  ["SECP256R1", Secp256r1Keypair],
] as const;
/** Below the orders of both secp curves. */
const privateKey = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Uint8Array.of(1, ...bytes.slice(1)));

describe.each(CURVES)("Sui's signer of a dWallet on %s", (curve, keypair) => {
  const pair = (key: Uint8Array) => {
    const client = knownKeyClient(curve, key);
    return [
      new DWalletSuiSigner(client, { ...client.key, curve }),
      keypair.fromSecretKey(key),
      client,
    ] as const;
  };

  it("equals the SDK's own keypair for transactions and personal messages", () =>
    fc.assert(
      fc.asyncProperty(privateKey, fc.uint8Array({ maxLength: 2_000 }), async (key, bytes) => {
        const [signer, own] = pair(key);
        expect(signer.toSuiAddress()).toBe(own.toSuiAddress());
        expect(signer.getKeyScheme()).toBe(own.getKeyScheme());
        expect(await signer.signTransaction(bytes)).toEqual(await own.signTransaction(bytes));
        expect(await signer.signPersonalMessage(bytes)).toEqual(await own.signPersonalMessage(bytes));
      }),
      RUNS,
    ));

  it("makes signatures that the SDK verifies for the address", async () => {
    const [signer] = pair(PRIVATE_KEY);
    const address = signer.toSuiAddress();
    const bytes = new TextEncoder().encode("bytes of a transaction");
    const { signature } = await signer.signTransaction(bytes);
    await expect(verifyTransactionSignature(bytes, signature, { address })).resolves.toBeDefined();
    const personal = await signer.signPersonalMessage(bytes);
    await expect(
      verifyPersonalMessageSignature(bytes, personal.signature, { address }),
    ).resolves.toBeDefined();
  });

  it("reads its public key from the chain", async () => {
    const [, own, client] = pair(PRIVATE_KEY);
    const { publicKeyHex: _, ...key } = client.key;
    const signer = await createDWalletSuiSigner(client, { ...key, curve });
    expect(signer.toSuiAddress()).toBe(own.toSuiAddress());
  });
});

describe("Sui's signer of a dWallet", () => {
  const client = () => knownKeyClient("ED25519", PRIVATE_KEY);

  it("sends the 32 bytes that Sui's schemes sign, and the caller's options", async () => {
    const known = client();
    const { signal } = new AbortController();
    const key = { ...known.key, curve: "ED25519" } as const;
    const signer = new DWalletSuiSigner(known, key, { idempotencyKey: "first", signal });
    await signer.signTransaction(new Uint8Array(100));
    await signer.withOptions({ idempotencyKey: "second" }).signTransaction(new Uint8Array(100));
    await signer.signTransaction(new Uint8Array(100));
    expect(known.asked.map(({ args }) => args.message.length)).toEqual([32, 32, 32]);
    expect(known.asked.map(({ options }) => options)).toEqual(
      ["first", "second", "first"].map((idempotencyKey) => ({ idempotencyKey, signal })),
    );
  });

  it("refuses a given public key that differs from the chain's before it requests a signature", async () => {
    const known = client();
    const publicKeyHex = "11".repeat(32);
    const signer = new DWalletSuiSigner(known, { ...known.key, publicKeyHex, curve: "ED25519" });
    await expect(signer.signTransaction(new Uint8Array(9))).rejects.toMatchObject({
      reason: "VALIDATION",
      metadata: { field: "publicKeyHex" },
    });
    expect(known.asked).toEqual([]);
    const short = { ...known.key, publicKeyHex: "11", curve: "ED25519" } as const;
    expect(() => new DWalletSuiSigner(known, short)).toThrow(TssError);
  });
});
