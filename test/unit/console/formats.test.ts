import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { roleOfKey } from "../../../src/console/api/session.ts";
import {
  explorerUrl,
  formatCoin,
  formatDuration,
  formatMoney,
  formatMoneyChange,
  parseMoney,
  plainMoney,
  plainTime,
  plainUnits,
  relativeTime,
  shortId,
} from "../../../src/console/format/text.ts";

describe("money", () => {
  it("is shown in dollars with two to six decimals and grouped digits", () => {
    expect(formatMoney(0n)).toBe("$0.00");
    expect(formatMoney(1n)).toBe("$0.000001");
    expect(formatMoney(1_234_567_890_000n)).toBe("$1,234,567.89");
    expect(formatMoney(-12_300n)).toBe("−$0.0123");
    expect(formatMoneyChange(5_000_000n)).toBe("+$5.00");
    expect(formatMoneyChange(-5_000_000n)).toBe("−$5.00");
  });

  it("is exact beyond the integers of floating point", () => {
    expect(formatMoney(9_007_199_254_740_993_000_001n)).toBe("$9,007,199,254,740,993.000001");
  });

  it("is parsed as a person writes it, and anything else is refused", () => {
    expect(parseMoney("12.5")).toBe(12_500_000n);
    expect(parseMoney(" -$1,000 ")).toBe(-1_000_000_000n);
    expect(parseMoney("0.000001")).toBe(1n);
    for (const text of ["", ".", "1.", "1.0000001", "1e3", "--1", "abc", "$"])
      expect([text, parseMoney(text)]).toEqual([text, undefined]);
  });

  it("is parsed back from its own format", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n }), (amount) => {
        expect(parseMoney(formatMoney(amount))).toBe(amount);
      }),
    );
  });
});

describe("coins", () => {
  it("are shown with at most four decimals, without the zeros at the end", () => {
    expect(formatCoin(1_500_000_000n, "SUI")).toBe("1.5 SUI");
    expect(formatCoin(-1_234_567_891n, "SUI")).toBe("−1.2345 SUI");
    expect(formatCoin(99_999n, "SUI")).toBe("< 0.0001 SUI");
    expect(formatCoin(-1n, "SUI")).toBe("> −0.0001 SUI");
    expect(formatCoin(0n, "SUI")).toBe("0 SUI");
    expect(formatCoin(1_000_000_000_000_000n, "IKA")).toBe("1,000,000 IKA");
  });
});

it("plain amounts and times are exact and read by programs", () => {
  expect(plainUnits(-1_234_567_891n, 9)).toBe("-1.234567891");
  expect(plainMoney(1_234_500_000n)).toBe("1234.5");
  expect(plainTime(timestampFromMs(1_500))).toBe("1970-01-01T00:00:01.500Z");
  expect(plainTime(undefined)).toBe("");
});

it.each([
  [0, "now"],
  [-59_000, "59 s ago"],
  [-185_000, "3 min ago"],
  [7_300_000, "in 2 h"],
  [-29 * 86_400_000, "29 d ago"],
  [-40 * 86_400_000, undefined],
])("a time %d ms from now is told relative to it", (ms, text) => {
  expect(relativeTime(1e12 + ms, 1e12)).toBe(text);
});

describe("durations", () => {
  it.each([
    [0, "0 ms"],
    [412.4, "412 ms"],
    [1_240, "1.2 s"],
    [9_000, "9 s"],
    [59_000, "59 s"],
    [185_000, "3 min 5 s"],
    [3_600_000, "1 h"],
    [187_200_000, "2 d 4 h"],
  ])("%d ms are %s", (durationMs, text) => {
    expect(formatDuration(durationMs)).toBe(text);
  });
});

it("ids are shortened to their beginning and end", () => {
  expect(shortId("0x1234567890abcdef1234")).toBe("0x123456…ef1234");
  expect(shortId("short")).toBe("short");
});

it("explorers are linked on testnet and mainnet, and the localnet has none", () => {
  expect(explorerUrl("testnet", "tx", "abc")).toBe("https://suiscan.xyz/testnet/tx/abc");
  expect(explorerUrl("mainnet", "object", "a/b")).toBe("https://suiscan.xyz/mainnet/object/a%2Fb");
  expect(explorerUrl("localnet", "tx", "abc")).toBeUndefined();
});

it("a project's keys and an operator's are distinguished by their form", () => {
  expect(roleOfKey("tss_live_abc")).toBe("project");
  expect(roleOfKey("tss_local_abc")).toBe("project");
  expect(roleOfKey("tss_admin_abc")).toBe("operator");
  expect(roleOfKey("a-root-key-of-32-characters-or-more")).toBe("operator");
});
