import { expect, it } from "vitest";
import { formatUsdPrice, parseUsdPrice } from "../../../../../src/service/billing/prices/price-source.ts";

it("a price is parsed and formatted exactly, to its twelfth digit", () => {
  for (const text of ["3.5", "0.000000000001", "1000000", "0.02", "123456.123456789012"]) {
    expect(formatUsdPrice(parseUsdPrice(text)!)).toBe(text);
  }
  expect(parseUsdPrice("03.50")).toBe(3_500_000_000_000n);
});

it.each(["", "0", "0.0", "-1", "+1", "1.", ".5", "1e3", "1,5", "0.0000000000001", "1000000.1", " 1"])(
  "%j is not a price",
  (text) => expect(parseUsdPrice(text)).toBeUndefined(),
);
