import { expect, it } from "vitest";
import { fixedPrices } from "../../../../../src/service/billing/prices/price-source.ts";

const coin = (name: string) => ({ name, symbol: name, coinType: `0x2::${name}::${name}`, decimals: 9 });

it("a fixed price is that of its coin at any time, and a coin that is not accepted has none", () => {
  let nowMs = 1_000;
  const prices = fixedPrices(
    [coin("SUI"), coin("IKA")],
    new Map([
      ["SUI", 35n],
      ["WAL", 2n],
    ]),
    { wallMs: () => nowMs },
  );
  expect(prices.priceOf("0x2::SUI::SUI")).toEqual({ picoUsd: 35n, time: new Date(1_000) });
  nowMs = 2_000;
  expect(prices.priceOf("0x2::SUI::SUI")?.time).toEqual(new Date(2_000));
  expect(prices.priceOf("0x2::IKA::IKA")).toBeUndefined();
  expect(prices.priceOf("0x2::WAL::WAL")).toBeUndefined();
});
