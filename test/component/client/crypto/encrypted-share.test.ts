import { bytesToHex } from "@noble/hashes/utils.js";
import { describe, expect, test } from "vitest";
import { decryptShare } from "../../../../src/client/crypto/decrypt-share.ts";
import { encryptShare } from "../../../../src/client/crypto/encrypt-share.ts";
import { RANDOMNESS_BITS } from "../../../../src/client/crypto/prove-evaluation.ts";
import { runSteps } from "../../../../src/protocol/chain/read-errors.ts";
import { bitLength } from "../../../../src/protocol/class-groups/integers.ts";
import {
  decodeEncryptionKey,
  deriveClassGroupsKeypair,
} from "../../../../src/protocol/class-groups/keypair.ts";
import { decodeUserShare } from "../../../../src/protocol/dwallet-output.ts";
import { curveByNumber, scaleBase } from "../../../../src/protocol/proofs/curve.ts";
import {
  decodeEncryptedShare,
  verifyEncryptedShare,
} from "../../../../src/protocol/proofs/encrypted-share.ts";
import { makeOwnDWallet, ownNetwork } from "../../../support/crypto/own-dwallet.ts";
import { flipBit } from "../../../support/crypto/signature-vectors.ts";

const network = ownNetwork(11);

describe.each([
  ["SECP256K1", 0],
  ["SECP256R1", 1],
  ["ED25519", 2],
  ["RISTRETTO", 3],
] as const)("a share on %s", (name, number) => {
  const curve = curveByNumber(number);
  // The network has completed this DKG, so it accepted the encryption and its proof.
  const { share, output, keypair, encryptedShareAndProof } = makeOwnDWallet(network, number);
  const decrypt = (encrypted: Uint8Array, key = keypair.decryptionKey, of = output) =>
    runSteps(decryptShare(curve, key, of, encrypted));

  test("is decrypted from its encryption", () => {
    expect(bytesToHex(decrypt(encryptedShareAndProof)) === bytesToHex(share)).toBe(true);
  });

  test("is not decrypted with another key, for another dWallet, or with a bit flipped in any part", () => {
    const { decryptionKey } = deriveClassGroupsKeypair(number, new Uint8Array(32).fill(13));
    expect(() => decrypt(encryptedShareAndProof, decryptionKey)).toThrow("encrypted share proof");
    const other = makeOwnDWallet(network, number, 33);
    expect(() => decrypt(encryptedShareAndProof, undefined, other.output)).toThrow("not the DKG's");
    const point = number < 2 ? 34 : 32;
    const scalar = number < 2 ? 33 : 32;
    const parts = [
      40,
      300,
      516 + 20,
      516 + point + 10,
      516 + point + scalar + 10,
      516 + point + scalar + 194 + 40,
    ];
    for (const part of parts) {
      expect(() => decrypt(flipBit(encryptedShareAndProof, 8 * (3 + part)))).toThrow();
    }
  });

  test("is encrypted with fresh randomness of full length each time, in ciphertext and mask", () => {
    const publicShare = scaleBase(curve, decodeUserShare(name, share));
    const messages = Array.from({ length: 3 }, () =>
      decodeEncryptedShare(
        curve,
        runSteps(encryptShare(curve, keypair.encryptionKey, decodeUserShare(name, share))),
      ),
    );
    const key = decodeEncryptionKey(curve.group, keypair.encryptionKey);
    for (const message of messages) verifyEncryptedShare(curve, key, publicShare, message);
    expect(new Set(messages.map(({ ciphertext }) => ciphertext[0].a)).size).toBe(3);
    expect(new Set(messages.map(({ maskCiphertext }) => maskCiphertext[0].a)).size).toBe(3);
    // A response is as long as its mask, which is 192 bits longer than the secret. All three masks begin with 24 zero
    // bits only once in 2^72 runs.
    const lengths = messages.map(({ randomnessResponse }) => bitLength(randomnessResponse));
    expect(Math.max(...lengths)).toBeGreaterThan(RANDOMNESS_BITS + 192 - 24);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(RANDOMNESS_BITS + 192 + 1);
  });
});
