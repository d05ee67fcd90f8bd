import { describe, expect, it } from "vitest";
import { faultOfSubject } from "../../../tools/release/fault-of-subject.ts";

const faultOf = (subject: string) => faultOfSubject(subject, ["feat", "fix"]);

describe("the subject of a commit", () => {
  it.each(["feat: a", "fix(sdk): a", "feat!: a", "fix(api/v1)!: a b", `feat: ${"a".repeat(66)}`])(
    "is accepted as %s",
    (subject) => expect(faultOf(subject)).toBeUndefined(),
  );

  it.each([
    ["Make it work", "write `kind: what changes`"],
    ["feat:no space", "write `kind: what changes`"],
    ["Feat: a", "write `kind: what changes`"],
    ["fix(a b): c", "write `kind: what changes`"],
    ["feat: ", "write `kind: what changes`"],
    ["wip: a", "the kinds are feat, fix"],
    [`feat: ${"a".repeat(67)}`, "keep it below 73 characters"],
  ])("causes a warning as %s", (subject, fault) => expect(faultOf(subject)).toContain(fault));
});
