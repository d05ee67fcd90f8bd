import { expect, it } from "vitest";
import { burnOf } from "../../../../../src/service/operator/history/history.ts";

const START_MS = Date.parse("2026-11-20T00:00:00Z");
/** A balance for each given hour. */
const values = (...pairs: readonly (readonly [hour: number, balance: bigint])[]) =>
  pairs.map(([hour, balance]) => ({ time: new Date(START_MS + hour * 3_600_000), balance }));

it("the burn is a balance's loss per day, with the time that the rest lasts", () => {
  expect(burnOf(values([0, 1_000n], [6, 900n], [12, 800n]))).toEqual({
    balance: 800n,
    perDay: 400n,
    daysLeft: 2,
  });
});

it("a deposit does not count as a negative loss", () => {
  expect(burnOf(values([0, 100n], [6, 60n], [12, 1_060n], [24, 1_000n]))).toEqual({
    balance: 1_000n,
    perDay: 100n,
    daysLeft: 10,
  });
});

it("a balance that loses nothing lasts without end", () => {
  expect(burnOf(values([0, 5n], [24, 5n]))).toEqual({ balance: 5n, perDay: 0n, daysLeft: undefined });
});

it("balances of less than an hour, and none at all, give no rate", () => {
  expect(burnOf(values([0, 5n], [0.9, 1n]))).toEqual({ balance: 1n, perDay: undefined, daysLeft: undefined });
  expect(burnOf([])).toEqual({ balance: 0n, perDay: undefined, daysLeft: undefined });
});

it("a balance beyond the integers of a double is exact", () => {
  const large = 18_446_744_073_709_551_615n;
  expect(burnOf(values([0, large], [24, large - 1n]))).toMatchObject({ balance: large - 1n, perDay: 1n });
});
