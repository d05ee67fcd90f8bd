import { expect, it } from "vitest";
import { formatDollars, formatPriceUsd, formatUnits } from "../../../src/protocol/price-table.ts";

it.each([
  [0n, "$0.00"],
  [1n, "$0.000001"],
  [12_300n, "$0.0123"],
  [-12_300n, "-$0.0123"],
  [1_000_000n, "$1.00"],
  [999_500_000n, "$999.50"],
  [1_234_500_000n, "$1,234.50"],
  [-1_234_567_000_000n, "-$1,234,567.00"],
])("%d micro-USD are %s", (amountMicroUsd, text) => {
  expect(formatDollars(amountMicroUsd)).toBe(text);
});

it("a negative amount has the given minus sign", () => {
  expect(formatDollars(-5n, "−")).toBe("−$0.000005");
  expect(formatDollars(5n, "−")).toBe("$0.000005");
});

it.each([
  ["3.5", "$3.50"],
  ["3", "$3.00"],
  ["1234567.25", "$1,234,567.25"],
  ["0.000000000123", "$0.000000000123"],
])("the price %s is %s", (usd, text) => {
  expect(formatPriceUsd(usd)).toBe(text);
});

it.each([
  [0n, 9, 0, "0"],
  [1n, 9, 0, "0.000000001"],
  [1_500_000_000n, 9, 0, "1.5"],
  [1_000_000_000_000n, 9, 0, "1,000"],
  [1_000_000_000n, 9, 2, "1.00"],
  [1_230_000_000n, 9, 1, "1.23"],
  [7n, 0, 0, "7"],
])("%d units of %d decimals, with at least %d of them, are %s", (amount, decimals, minDecimals, text) => {
  expect(formatUnits(amount, decimals, minDecimals)).toBe(text);
});
