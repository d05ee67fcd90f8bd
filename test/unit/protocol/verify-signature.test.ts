import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { sr25519PairFromSeed, sr25519Sign } from "@polkadot/util-crypto";
import fc from "fast-check";
import { pointFromScalar, signSchnorr, sign as signSecp } from "tiny-secp256k1";
import { describe, expect, test } from "vitest";
import type { AlgorithmTriple } from "../../../src/protocol/algorithms.ts";
import { signatureFromChain } from "../../../src/protocol/signatures/signature-forms.ts";
import {
  messageDigest,
  type SignatureClaim,
  verifySignature,
} from "../../../src/protocol/signatures/verify-signature.ts";
import { flipBit, SIGNATURE_VECTORS, type SignatureVector } from "../../support/crypto/signature-vectors.ts";
import { isValidSignature } from "../../support/crypto/signature-verifiers.ts";

const name = ({ curve, signatureAlgorithm, hash }: AlgorithmTriple): string =>
  `${curve} ${signatureAlgorithm} ${hash}`;

function claimOf({ triple, publicKey, message, chainSignature }: SignatureVector): SignatureClaim {
  const signature = signatureFromChain(triple.signatureAlgorithm, chainSignature);
  return { ...triple, publicKey, message, signature };
}

describe.each(SIGNATURE_VECTORS.map((vector) => [name(vector.triple), claimOf(vector)] as const))(
  "%s",
  (_name, claim) => {
    test("the network's signature verifies here and with an outside library", () => {
      expect(verifySignature(claim)).toBe(true);
      expect(isValidSignature(claim)).toBe(true);
    });

    test("a flipped bit in any byte of the signature is refused", () => {
      for (let byte = 0; byte < claim.signature.length; byte++) {
        const signature = flipBit(claim.signature, 8 * byte + ((byte * 5) % 8));
        expect(verifySignature({ ...claim, signature }), `byte ${byte}`).toBe(false);
      }
    });

    test("another message, another key and another length are refused", () => {
      expect(verifySignature({ ...claim, message: flipBit(claim.message, 3) })).toBe(false);
      expect(verifySignature({ ...claim, publicKey: flipBit(claim.publicKey, 9) })).toBe(false);
      expect(verifySignature({ ...claim, publicKey: claim.publicKey.subarray(1) })).toBe(false);
      expect(verifySignature({ ...claim, signature: claim.signature.subarray(0, 63) })).toBe(false);
      expect(verifySignature({ ...claim, signature: Uint8Array.of(...claim.signature, 0) })).toBe(false);
    });

    test("a right signature with the name of another hash is refused", () => {
      const others = (["KECCAK256", "SHA256", "DoubleSHA256", "SHA512", "Merlin"] as const).filter(
        (hash) => hash !== claim.hash,
      );
      expect(others.filter((hash) => verifySignature({ ...claim, hash }))).toEqual([]);
    });

    test("random bytes are refused without an exception", () => {
      fc.assert(
        fc.property(
          fc.uint8Array({ maxLength: 70 }),
          fc.uint8Array({ maxLength: 40 }),
          (signature, publicKey) => {
            expect(verifySignature({ ...claim, signature })).toBe(false);
            expect(verifySignature({ ...claim, publicKey })).toBe(false);
          },
        ),
        { numRuns: 50 },
      );
    });
  },
);

describe("signatures of outside libraries", () => {
  const message = new TextEncoder().encode("made elsewhere");

  test("OpenSSL's Ed25519 is accepted", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const raw = publicKey.export({ format: "der", type: "spki" }).subarray(-32);
    const signature = sign(null, message, privateKey);
    const claim = {
      signatureAlgorithm: "EdDSA",
      hash: "SHA512",
      publicKey: raw,
      message,
      signature,
    } as const;
    expect(verifySignature(claim)).toBe(true);
  });

  test("Polkadot's sr25519 is accepted", () => {
    const pair = sr25519PairFromSeed(new Uint8Array(32).fill(7));
    const signature = sr25519Sign(message, pair);
    const { publicKey } = pair;
    const claim = {
      signatureAlgorithm: "Schnorrkel",
      hash: "Merlin",
      publicKey,
      message,
      signature,
    } as const;
    expect(verifySignature(claim)).toBe(true);
  });

  test("an sr25519 signature without its format bit is refused", () => {
    const pair = sr25519PairFromSeed(new Uint8Array(32).fill(7));
    const signature = flipBit(sr25519Sign(message, pair), 8 * 63 + 7);
    const { publicKey } = pair;
    const claim = {
      signatureAlgorithm: "Schnorrkel",
      hash: "Merlin",
      publicKey,
      message,
      signature,
    } as const;
    expect(verifySignature(claim)).toBe(false);
  });

  test("an Ed25519 key of small order is refused, because one signature would fit every message", () => {
    // The neutral element as the key, and (B, 1) as the signature: 1 * B = B + challenge * 0.
    const publicKey = new Uint8Array(32).fill(1, 0, 1);
    const signature = new Uint8Array(64).fill(0x66, 0, 32).fill(0x58, 0, 1).fill(1, 32, 33);
    const claim = { signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature } as const;
    expect(ed25519.verify(signature, message, publicKey, { zip215: true })).toBe(true);
    expect(verifySignature(claim)).toBe(false);
  });

  test("libsecp256k1's Schnorr is accepted", () => {
    const secret = new Uint8Array(32).fill(9);
    const publicKey = pointFromScalar(secret, true)!;
    const signature = signSchnorr(messageDigest("SHA256", message), secret);
    const claim = { signatureAlgorithm: "Taproot", hash: "SHA256", publicKey, message, signature } as const;
    expect(verifySignature(claim)).toBe(true);
  });

  test("libsecp256k1's ECDSA is accepted with exactly one recovery id", () => {
    const secret = new Uint8Array(32).fill(11);
    const publicKey = pointFromScalar(secret, true)!;
    const compact = signSecp(messageDigest("DoubleSHA256", message), secret);
    const accepted = [0, 1, 2, 3, 4, 27, 28].filter((v) =>
      verifySignature({
        signatureAlgorithm: "ECDSASecp256k1",
        hash: "DoubleSHA256",
        publicKey,
        message,
        signature: Uint8Array.of(...compact, v),
      }),
    );
    expect(accepted).toHaveLength(1);
    expect(accepted[0]).toBeLessThan(2);
  });

  test("OpenSSL's P-256 signatures are accepted only with low s", () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { x, y } = publicKey.export({ format: "jwk" });
    const isOdd = (Buffer.from(y!, "base64url").at(-1)! & 1) === 1;
    const compressed = Uint8Array.of(isOdd ? 3 : 2, ...Buffer.from(x!, "base64url"));
    const key = createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" }));
    const outcomes = new Set<string>();
    for (let round = 0; round < 40; round++) {
      const compact = sign("sha256", message, { key, dsaEncoding: "ieee-p1363" });
      const s = BigInt(`0x${compact.subarray(32).toString("hex")}`);
      const isLow = s <= 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n / 2n;
      const isAccepted = [0, 1].some((v) =>
        verifySignature({
          signatureAlgorithm: "ECDSASecp256r1",
          hash: "SHA256",
          publicKey: compressed,
          message,
          signature: Uint8Array.of(...compact, v),
        }),
      );
      outcomes.add(`${isLow ? "low" : "high"} ${isAccepted ? "accepted" : "refused"}`);
    }
    expect([...outcomes].sort()).toEqual(["high refused", "low accepted"]);
  });
});
