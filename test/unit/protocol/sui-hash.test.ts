import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { TransactionDataBuilder } from "@mysten/sui/transactions";
import { blake2b } from "@noble/hashes/blake2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { blake2b256, transactionDigest } from "../../../src/protocol/chain/sui-hash.ts";
import { signTransaction } from "../../../src/service/chain/submit/build-transaction.ts";

describe("Sui's hash", () => {
  it("equals another implementation's for parts of any size, one hash after the other", () => {
    const parts = fc.array(fc.uint8Array({ maxLength: 700 }), { maxLength: 5 });
    fc.assert(
      fc.property(parts, (some) => {
        expect(blake2b256(...some)).toEqual(blake2b(concatBytes(...some), { dkLen: 32 }));
      }),
    );
  });

  it("makes the SDK's digest of a transaction and the SDK's signatures of it", async () => {
    const signers = [Ed25519Keypair.generate(), Secp256k1Keypair.generate()];
    for (const size of [1, 127, 128, 129, 65_536]) {
      const bytes = crypto.getRandomValues(new Uint8Array(size));
      expect(transactionDigest(bytes)).toBe(TransactionDataBuilder.getDigestFromBytes(bytes));
      const expected = await Promise.all(signers.map((signer) => signer.signTransaction(bytes)));
      expect(await signTransaction(bytes, signers)).toEqual(expected.map(({ signature }) => signature));
    }
  });
});
