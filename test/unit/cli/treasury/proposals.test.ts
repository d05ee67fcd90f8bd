import { describe, expect, it } from "vitest";
import {
  proposeCeilings,
  proposeLimits,
  shareOf,
  suffices,
} from "../../../../src/cli/treasury/price-ceilings.ts";
import { describeEpoch } from "../../../../src/cli/treasury/treasury-status.ts";
import type { OperationPrice } from "../../../../src/service/chain/treasury/read-prices.ts";

const price = (given: Partial<OperationPrice>): OperationPrice => ({
  operation: "sign",
  curve: 0,
  signatureAlgorithm: 0,
  ika: 100n,
  sui: 3n,
  ...given,
});

describe("proposed ceilings", () => {
  it("are the price and the margin, rounded up", () => {
    const [ceiling] = proposeCeilings([price({})], 25);
    expect(ceiling).toMatchObject({ ika: 125n, sui: 4n });
    expect(proposeCeilings([price({})], 0)[0]).toMatchObject({ ika: 100n, sui: 3n });
  });

  it("omit what the service does not use", () => {
    const others = [
      price({ curve: 9 }),
      price({ signatureAlgorithm: 2 }),
      price({ operation: "dkg", curve: 4 }),
    ];
    expect(proposeCeilings([...others, price({ operation: "dkg", curve: 2 })], 25)).toHaveLength(1);
  });

  it("suffice only if both coins do", () => {
    expect(suffices(price({}), price({}))).toBe(true);
    expect(suffices(price({ ika: 99n }), price({}))).toBe(false);
    expect(suffices(price({ sui: 2n }), price({}))).toBe(false);
  });
});

describe("proposed limits", () => {
  it("are twice an even share, plus presigns in advance", () => {
    expect(shareOf({ dkgs: 10, signs: 100 }, 4)).toEqual({ dkgs: 5n, signs: 50n, presigns: 550n });
    expect(shareOf({ dkgs: 1, signs: 1 }, 3)).toEqual({ dkgs: 1n, signs: 1n, presigns: 501n });
  });

  it("include coins for all operations at the ceiling of the most expensive curve", () => {
    const ceilings = [
      price({ ika: 7n, sui: 1n }),
      price({ curve: 1, ika: 5n, sui: 2n }),
      price({ operation: "presign", ika: 3n, sui: 0n }),
      price({ operation: "dkg", ika: 11n, sui: 13n }),
    ];
    expect(proposeLimits(ceilings, { dkgs: 2n, presigns: 10n, signs: 100n })).toMatchObject({
      ika: 2n * 11n + 10n * 3n + 100n * 7n,
      sui: 2n * 13n + 100n * 2n,
    });
  });
});

it("an epoch is shown with the approximate day on which it begins", () => {
  const now = { epoch: 100n, startMs: Date.UTC(2026, 10, 23, 6) };
  expect(describeEpoch(114n, now)).toBe("epoch 114, about 2026-12-07");
  expect(describeEpoch(100n, now)).toBe("epoch 100, which has begun");
  expect(describeEpoch(2n ** 64n - 1n, now)).toBe("epoch 18446744073709551615, years from now");
});
