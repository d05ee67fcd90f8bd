import { describe, expect, it } from "vitest";
import { checkPublicShare } from "../../../../src/localnet/mpc/share-checks.ts";
import { CURVES } from "../../../../src/protocol/algorithms.ts";
import { encodeUserShare } from "../../../../src/protocol/dwallet-output.ts";
import { curveByNumber, scaleBase } from "../../../../src/protocol/proofs/curve.ts";

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
