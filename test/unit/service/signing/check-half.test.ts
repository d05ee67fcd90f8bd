import { describe, expect, it } from "vitest";
import { createMemoryBuckets } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { createCheckHalf } from "../../../../src/service/signing/verifier.ts";

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
    clock: { now: () => nowMs },
  });
  const reason = (project: string) =>
    checkHalf(project, claim).then(
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
