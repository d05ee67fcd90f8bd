import { describe, expect, it } from "vitest";
import { createMemoryBuckets } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { createCheckHalf, wrongHalvesSizes } from "../../../../src/service/signing/verify/verifier.ts";

const claim = {} as never;

function setUp(budgetCount: number) {
  let nowMs = 0;
  const looks: string[] = [];
  const checkHalf = createCheckHalf({
    verifier: {
      async checkHalf(projectId) {
        looks.push(projectId);
        return projectId === "honest" ? undefined : "wrong";
      },
    },
    wrongHalves: createMemoryBuckets({ burstCount: budgetCount, perSecond: 1 }, () => nowMs),
    wrongHalvesOfUser: createMemoryBuckets({ burstCount: 2, perSecond: 0.1 }, () => nowMs),
    clock: { now: () => nowMs },
  });
  const reason = (projectId: string, userReference: string | null = null) =>
    checkHalf({ projectId, userReference }, claim).then(
      () => "taken",
      (error) => error.reason as string,
    );
  return {
    looks,
    reason,
    pass(ms: number) {
      nowMs += ms;
    },
  };
}

it("a user's part of a project's wrong halves is a tenth, and at least one", () => {
  expect(wrongHalvesSizes(60).ofUser).toEqual({ burstCount: 6, perSecond: 0.1 });
  expect(wrongHalvesSizes(1)).toEqual({
    ofProject: { burstCount: 1, perSecond: 1 / 60 },
    ofUser: { burstCount: 1, perSecond: 1 / 60 },
  });
});

describe("wrong halves", () => {
  it("beyond a project's budget are refused unverified, and other projects' halves are still verified", async () => {
    const { looks, reason } = setUp(10);
    const reasons: string[] = [];
    for (let count = 0; count < 300; count++) reasons.push(await reason("hostile"));
    expect(reasons.filter((one) => one === "MALFORMED_SIGN_MESSAGE")).toHaveLength(11);
    expect(reasons.slice(11)).toEqual(Array(289).fill("TOO_MANY_WRONG_HALVES"));
    expect(looks).toHaveLength(11);
    expect(await reason("honest")).toBe("taken");
  });

  it("of a user beyond the user's part are refused unverified, and take nothing from the project's other users", async () => {
    const { looks, reason, pass } = setUp(5);
    const reasons: string[] = [];
    for (let count = 0; count < 300; count++) reasons.push(await reason("project", "hostile"));
    expect(reasons.filter((one) => one === "MALFORMED_SIGN_MESSAGE")).toHaveLength(3);
    expect(looks).toHaveLength(3);
    // Three of the project's five are left.
    for (const user of ["alice", "bob", "carol"])
      expect(await reason("project", user)).toBe("MALFORMED_SIGN_MESSAGE");
    expect(looks).toHaveLength(6);
    pass(10_000);
    expect(await reason("project", "hostile")).toBe("MALFORMED_SIGN_MESSAGE");
  });

  it("are bounded for a project however many users send them", async () => {
    const { looks, reason } = setUp(5);
    for (let count = 0; count < 300; count++) await reason("project", `user-${count}`);
    expect(looks).toHaveLength(6);
  });

  it("are verified again one at a time as the budget refills", async () => {
    const { looks, reason, pass } = setUp(2);
    for (let count = 0; count < 5; count++) await reason("hostile");
    expect(looks).toHaveLength(3);
    pass(1_000);
    expect(await reason("hostile")).toBe("MALFORMED_SIGN_MESSAGE");
    pass(500);
    for (let count = 0; count < 5; count++) await reason("hostile");
    expect(looks).toHaveLength(5);
  });

  it("count against the budget, and right ones do not", async () => {
    const { looks, reason } = setUp(1);
    for (let count = 0; count < 50; count++) expect(await reason("honest")).toBe("taken");
    expect(looks).toHaveLength(50);
  });
});
