import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sourceCommit } from "../../../tools/source-commit.ts";

const IDENTITY = ["-c", "user.name=A tester", "-c", "user.email=tester@example.com"];
const GIVEN = "0123456789abcdef0123456789abcdef01234567";

describe("the commit of a build", () => {
  let folder: string;
  const git = (...args: string[]) =>
    execFileSync("git", [...IDENTITY, ...args], { cwd: folder, stdio: "pipe" })
      .toString()
      .trim();

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), "commit-"));
    git("init", "--quiet");
    writeFileSync(path.join(folder, "file"), "first");
    git("add", ".");
    git("commit", "--quiet", "--message", "feat: begin");
    git("tag", "v1.0.0");
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it("is git's, with a mark if the sources differ from it", () => {
    const head = git("rev-parse", "HEAD");
    expect(sourceCommit(folder, undefined)).toBe(head);
    writeFileSync(path.join(folder, "file"), "second");
    expect(sourceCommit(folder, undefined)).toBe(`${head}-dirty`);
  });

  it("is the given one, and only a commit is accepted", () => {
    expect(sourceCommit(folder, GIVEN)).toBe(GIVEN);
    expect(sourceCommit(folder, "")).toBe(sourceCommit(folder, undefined));
    for (const wrong of ["main", GIVEN.slice(1), `${GIVEN}\n`, "unknown"])
      expect(() => sourceCommit(folder, wrong)).toThrow("SOURCE_COMMIT takes a git commit");
  });

  it("is absent outside a checkout, and in a folder of another project's checkout", () => {
    const inside = path.join(folder, "unpacked");
    mkdirSync(inside);
    expect(sourceCommit(inside, undefined)).toBeUndefined();
    const outside = mkdtempSync(path.join(tmpdir(), "commit-none-"));
    expect(sourceCommit(outside, undefined)).toBeUndefined();
    rmSync(outside, { recursive: true });
  });
});
