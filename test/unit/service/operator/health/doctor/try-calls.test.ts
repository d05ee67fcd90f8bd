import { describe, expect, it } from "vitest";
import {
  nearLimits,
  type TransactionUse,
} from "../../../../../../src/service/operator/health/doctor/network/try-calls.ts";

const USE: TransactionUse = {
  gas: 39_999_999_999n,
  bytes: 104_857n,
  "new objects": 1_638n,
  events: 819n,
  "bytes of one event": 204_799n,
};

describe("the use of Sui's limits", () => {
  it("is not close to any of them below 80 percent", () => {
    expect(nearLimits(USE)).toEqual([]);
  });

  it.each([
    ["gas", "40000000000 of 50000000000 MIST of gas"],
    ["bytes", "104858 of 131072 bytes"],
    ["new objects", "1639 of 2048 new objects"],
    ["events", "820 of 1024 events"],
    ["bytes of one event", "204800 of 256000 bytes of one event"],
  ] as const)("is close to the limit of %s from 80 percent on", (name, text) => {
    expect(nearLimits({ ...USE, [name]: USE[name] + 1n })).toEqual([text]);
  });
});
