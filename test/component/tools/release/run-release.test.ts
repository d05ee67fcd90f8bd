import { setLogger } from "release-please";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runRelease } from "../../../../tools/release/run-release.ts";
import { atNight } from "../../../support/environment.ts";
import { readSource } from "../../../support/repository/source-files.ts";
import { MadeRepository } from "./made-repository.ts";

const NOTHING = undefined;
/** A change, its commit's message, and the next version after 1.2.3 and after 0.2.3. */
type ReleaseRule = [name: string, message: string, stable: string | undefined, early: string | undefined];

describe("the next release", () => {
  let repository: MadeRepository;
  beforeAll(() => {
    setLogger({ error() {}, warn() {}, info() {}, debug() {}, trace() {} });
    repository = new MadeRepository();
  });
  afterAll(() => repository.remove());

  /** The version that the Release PR proposes after these commits. */
  async function nextAfter(version: string | undefined, ...messages: string[]): Promise<string | undefined> {
    repository.startAt(version);
    for (const message of messages) repository.commit(message);
    await runRelease(repository, "main");
    return repository.opened[0]?.pullRequest.title.replace("chore: release ", "");
  }

  const always: ReleaseRule[] = [
    ["a feature", "feat: sign faster", "1.3.0", "0.2.4"],
    ["a fix", "fix: refund once", "1.2.4", "0.2.4"],
    ["a breaking feature", "feat!: drop a field", "2.0.0", "0.3.0"],
    ["a chore", "chore: tidy up", NOTHING, NOTHING],
    ["a kind that nobody knows", "wip: half of it", NOTHING, NOTHING],
  ];
  const rest: ReleaseRule[] = [
    ["a feature of one part", "feat(sdk): sign faster", "1.3.0", "0.2.4"],
    ["a breaking fix of one part", "fix(api)!: refuse an empty name", "2.0.0", "0.3.0"],
    ["a footer that says so", "fix: rename\n\nBREAKING CHANGE: the field has a new name", "2.0.0", "0.3.0"],
    ["a breaking change of a hidden kind", "chore!: drop Node 20", "2.0.0", "0.3.0"],
    ["a revert", "revert: sign faster", "1.2.4", "0.2.4"],
    ["a breaking refactoring", "refactor!: rename the entry", "2.0.0", "0.3.0"],
    ["a footer that names the version", "perf: claim\n\nRelease-As: 1.2.9", "1.2.9", "1.2.9"],
    ["performance", "perf: claim in one statement", NOTHING, NOTHING],
    ["a refactoring", "refactor: split the reader", NOTHING, NOTHING],
    ["dependencies", "deps: bump pg to 8.23.2", NOTHING, NOTHING],
    ["CI", "ci: run on Node 24", NOTHING, NOTHING],
    ["tests", "test: kill a replica", NOTHING, NOTHING],
    ["documents", "docs: say how", NOTHING, NOTHING],
    ["the build", "build: pin the base", NOTHING, NOTHING],
    ["style", "style: sort imports", NOTHING, NOTHING],
    ["a subject that matches nothing", "Make it work at last", NOTHING, NOTHING],
  ];
  it.each(atNight([...always, ...rest], always))(
    "after %s depends on its subject",
    async (_name, message, stable, early) => {
      expect([await nextAfter("1.2.3", message), await nextAfter("0.2.3", message)]).toEqual([stable, early]);
    },
  );

  it("depends on the most significant of several changes, and ignores a subject that matches nothing", async () => {
    const messages = ["feat: one", "Make it work", "fix: two", "chore: three"];
    expect(await nextAfter("1.2.3", ...messages)).toBe("1.3.0");
    expect(await nextAfter("1.2.3", ...messages, "perf!: four")).toBe("2.0.0");
  });

  it("waits with performance, refactorings and dependencies for a change with a version, and then shows them", async () => {
    const waiting = ["perf: a p", "refactor: an r", "deps: a d"];
    expect(await nextAfter("1.2.3", ...waiting)).toBeUndefined();
    repository.commit("fix: an x");
    await runRelease(repository, "main");
    expect(repository.opened[0]?.pullRequest.title).toBe("chore: release 1.2.4");
    const changelog = repository.opened[0]?.files.get("CHANGELOG.md") ?? "";
    expect([...changelog.matchAll(/^\* (.+?) \(/gm)].map(([, line]) => line)).toEqual([
      "an x",
      "a p",
      "an r",
      "a d",
    ]);
  });

  it("is 0.1.0 if there was none", async () => {
    expect(await nextAfter(undefined, "fix: refund once")).toBe("0.1.0");
  });

  it("names only the changes that a user sees", async () => {
    await nextAfter(
      "1.2.3",
      ...["feat: an f", "fix: an x", "perf: a p", "refactor: an r", "deps: a d"],
      ...["docs: hidden", "test: hidden", "ci: hidden", "build: hidden", "chore: hidden", "hidden"],
    );
    const changelog = repository.opened[0]?.files.get("CHANGELOG.md") ?? "";
    const sections = [...changelog.matchAll(/^### (.+)\n\n\* (.+?) \(/gm)].map(([, ...parts]) => parts);
    expect(sections).toEqual([
      ["Features", "an f"],
      ["Fixes", "an x"],
      ["Performance", "a p"],
      ["Internals", "an r"],
      ["Dependencies", "a d"],
    ]);
    expect(changelog).not.toContain("hidden");
    expect(changelog.match(/^#.*$/gm)).toEqual([
      "# Changelog",
      expect.stringContaining("## [1.3.0]"),
      ...sections.map(([title]) => `### ${title}`),
      "## [Before 0.1.0]",
    ]);
  });

  it("writes its version into every file that contains it, and changes nothing else", async () => {
    await nextAfter("1.2.3", "feat: sign faster");
    const { files } = repository.opened[0] ?? { files: new Map<string, string>() };
    expect([...files.keys()].sort()).toEqual([
      ".release-please-manifest.json",
      "CHANGELOG.md",
      "gen/openapi.json",
      "gen/signer-openapi.json",
      "package-lock.json",
      "package.json",
    ]);
    for (const name of ["gen/openapi.json", "gen/signer-openapi.json", "package-lock.json", "package.json"]) {
      const before = repository.git("show", `main:${name}`);
      expect(files.get(name)?.trimEnd(), name).toBe(before.replaceAll('"1.2.3"', '"1.3.0"'));
    }
  });

  it("is tagged once, at the merge of its Release PR", async () => {
    await nextAfter("1.2.3", "feat: sign faster");
    const merge = repository.mergeOpened();
    repository.commit("fix: refund once");
    expect(await runRelease(repository, "main")).toEqual({
      tag: "v1.3.0",
      branch: "release-please--branches--main--components--threshold-signing-service",
    });
    expect(repository.git("rev-parse", "v1.3.0")).toBe(merge);
    expect(repository.released[0]?.notes).toContain("sign faster");
    expect(repository.opened[0]?.pullRequest.title).toBe("chore: release 1.3.1");
    expect(await runRelease(repository, "main")).toMatchObject({ tag: undefined });
    repository.git("tag", "--delete", "v1.3.0");
  });

  it("continues from the package's version", () => {
    const { version } = JSON.parse(readSource("package.json").text) as { version: string };
    const released = JSON.parse(readSource(".release-please-manifest.json").text) as { ".": string };
    const config = JSON.parse(readSource("release-please-config.json").text) as { "initial-version": string };
    expect(version).toBe(released["."] === "0.0.0" ? config["initial-version"] : released["."]);
  });
});
