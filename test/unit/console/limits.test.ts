import { describe, expect, it } from "vitest";
import { SignatureAlgorithm } from "../../../gen/client/tss/v1/types_pb.ts";
import {
  allowanceIn,
  budgetText,
  dwalletsFault,
  NO_LIMITS,
  referencesFault,
  sumFault,
} from "../../../src/console/format/limits.ts";

const DWALLET = `0x${"ab".repeat(32)}`;

describe("the typed limits of a new key", () => {
  it("limit nothing while nothing is typed, whatever the window", () => {
    expect(allowanceIn(NO_LIMITS)).toBeUndefined();
    expect(allowanceIn({ ...NO_LIMITS, users: " , ", dwallets: "\n", window: "3600" })).toBeUndefined();
  });

  it("become an allowance, each user and dWallet once", () => {
    const typed = {
      users: "alice, user 7,alice",
      dwallets: `${DWALLET} ${DWALLET}`,
      algorithms: [SignatureAlgorithm.EdDSA],
      sum: "$12.50",
      count: "100",
      window: "3600",
    };
    expect(allowanceIn(typed)).toEqual({
      userReferences: ["alice", "user 7"],
      dwalletIds: [DWALLET],
      algorithms: [SignatureAlgorithm.EdDSA],
      budget: { windowSeconds: 3_600, maxMicroUsd: 12_500_000n, maxCount: 100 },
    });
  });

  it.each([
    [{ sum: "5" }, { windowSeconds: 86_400, maxMicroUsd: 5_000_000n }],
    [{ count: "3" }, { windowSeconds: 86_400, maxCount: 3 }],
  ])("have a budget of one limit: %o", (typed, budget) => {
    expect(allowanceIn({ ...NO_LIMITS, ...typed })).toMatchObject({ budget });
  });

  it("have no budget without a sum or a number", () => {
    expect(allowanceIn({ ...NO_LIMITS, users: "alice" })).not.toHaveProperty("budget");
  });

  it.each([
    [
      "a user outside ASCII",
      referencesFault("älice"),
      "A reference has 1 to 128 printable ASCII characters.",
    ],
    ["17 users", referencesFault([...Array(17).keys()].join()), "These are 17 users, and 16 are allowed."],
    ["a short id", dwalletsFault("0x12"), "A dWallet’s id is 0x and 64 hex digits."],
    ["a sum of zero", sumFault("0"), "Write an amount above zero such as 12.50."],
    ["a negative sum", sumFault("-1"), "Write an amount above zero such as 12.50."],
  ])("name the fault of %s", (_, fault, sentence) => {
    expect(fault).toBe(sentence);
  });

  it("have no fault if they are right or empty", () => {
    for (const fault of [referencesFault, dwalletsFault, sumFault]) expect(fault("")).toBeUndefined();
    expect(referencesFault("alice, user 7")).toBeUndefined();
    expect(dwalletsFault(`${DWALLET},\n${DWALLET}`)).toBeUndefined();
    expect(sumFault("12.50")).toBeUndefined();
  });
});

describe("a budget", () => {
  it.each([
    [
      { windowSeconds: 86_400, maxCount: 10, maxMicroUsd: 5_000_000n },
      { count: 9, microUsd: 3_500_000n },
      "$3.50 of $5.00 and 9 of 10 requests left in a day",
    ],
    [{ windowSeconds: 7_200, maxCount: 10 }, { count: 0 }, "0 of 10 requests left in 2 hours"],
    [{ windowSeconds: 61, maxMicroUsd: 1_000n }, undefined, "$0.001 of $0.001 left in 61 seconds"],
  ])("is shown with what is left: %o", (budget, left, text) => {
    expect(budgetText(budget, left)).toBe(text);
  });
});
