import { describe, expect, it } from "vitest";
import { checkEncryptedShare, checkPublicShare } from "../../../../src/localnet/mpc/share-checks.ts";
import { CURVES } from "../../../../src/protocol/algorithms.ts";
import { scalarToForm } from "../../../../src/protocol/class-groups/class-group.ts";
import { powerForm } from "../../../../src/protocol/class-groups/exponentiation.ts";
import { composeForms, type Form, reduceForm } from "../../../../src/protocol/class-groups/forms.ts";
import { encodeEncryptionKey } from "../../../../src/protocol/class-groups/keypair.ts";
import { encodeUserShare } from "../../../../src/protocol/dwallet-output.ts";
import { curveByNumber, scaleBase } from "../../../../src/protocol/proofs/curve.ts";
import {
  encodeEncryptedShare,
  encryptedShareChallenge,
} from "../../../../src/protocol/proofs/encrypted-share.ts";

describe.each([0, 1, 2, 3])("a public share on curve %i", (number) => {
  const curve = curveByNumber(number);
  const share = (scalar: bigint) => encodeUserShare(CURVES[number]!, scalar);
  const check = (bytes: Uint8Array) => () => checkPublicShare(curve, scaleBase(curve, 1234n), bytes);

  it("is the discrete logarithm of the dWallet's public share", () => {
    expect(check(share(1234n))).not.toThrow();
    expect(check(share(1235n))).toThrow("public user share is not the dWallet's");
  });

  it("is rejected if it is malformed", () => {
    expect(check(share(curve.order + 1n))).toThrow("not a reduced scalar");
    expect(check(Uint8Array.of(...share(1234n), 0))).toThrow("public user share");
    expect(check(new Uint8Array(0))).toThrow("public user share");
  });
});

describe.each([0, 1, 2, 3])("an encrypted share on curve %i", (number) => {
  const curve = curveByNumber(number);
  const { group } = curve;
  const { p, q } = group;
  const encryptionKey = powerForm(group, group.h, 777n);
  const share = 1234n;
  /** The only class of order two. */
  const half = reduceForm(p, p, (p + q ** 3n) / 4n);

  /** Encrypts the share, multiplies the ciphertext by the factors, and proves it under an even challenge. */
  function check(factors: readonly [Form, Form]): void {
    const encrypted = (scalar: bigint, randomness: bigint) =>
      [
        powerForm(group, group.h, randomness),
        composeForms(group, scalarToForm(group, scalar), powerForm(group, encryptionKey, randomness)),
      ] as const;
    const [first, second] = encrypted(share, 55n);
    const ciphertext = [
      composeForms(group, first, factors[0]),
      composeForms(group, second, factors[1]),
    ] as const;
    for (let mask = 1n; ; mask++) {
      const masks = { maskCiphertext: encrypted(mask, mask), maskPoint: scaleBase(curve, mask), ciphertext };
      const challenge = encryptedShareChallenge(curve, encryptionKey, scaleBase(curve, share), masks);
      if (challenge % 2n !== 0n) continue;
      const encryptedShareAndProof = encodeEncryptedShare(curve, {
        ...masks,
        scalarResponse: (mask + challenge * share) % curve.order,
        randomnessResponse: mask + challenge * 55n,
      });
      const proved = { encryptedShareAndProof, encryptionKey: encodeEncryptionKey(encryptionKey) };
      checkEncryptedShare(curve, scaleBase(curve, share), proved);
      return;
    }
  }

  it("is accepted only in a ciphertext that its owner can decrypt, although the proof holds for others too", () => {
    expect(composeForms(group, half, half)).toEqual(group.identity);
    expect(() => check([group.identity, group.identity])).not.toThrow();
    expect(() => check([half, group.identity])).toThrow("ciphertext is not a square");
    expect(() => check([group.identity, half])).toThrow("ciphertext is not a square");
    expect(() => check([half, half])).toThrow("ciphertext is not a square");
  });
});
