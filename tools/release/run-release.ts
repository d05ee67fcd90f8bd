import { Manifest } from "release-please";
import type { ConventionalCommit } from "release-please/build/src/commit.js";
import { ManifestPlugin } from "release-please/build/src/plugin.js";

/** The repository as release-please sees it: GitHub, or a test's repository. */
export type Repository = Parameters<typeof Manifest.fromManifest>[0];

/** The changes on GitHub. */
export interface ReleaseOutcome {
  /** The tag of the release whose Release PR was merged; undefined if none was waiting. */
  readonly tag: string | undefined;
  /** The branch of the open Release PR; undefined if no commit since the last release leads to a version. */
  readonly branch: string | undefined;
}

/**
 * Tags the release whose Release PR was merged, then opens or updates the next Release PR. The rules are in
 * `release-please-config.json`, except for one: some kinds of commits are shown in the changelog and lead to no version
 * alone. They wait for a commit of a kind that does.
 */
export async function runRelease(repository: Repository, targetBranch: string): Promise<ReleaseOutcome> {
  const releases = await (await Manifest.fromManifest(repository, targetBranch)).createReleases();
  const manifest = await Manifest.fromManifest(repository, targetBranch);
  manifest.plugins.push(new WaitForVersion(repository, targetBranch, manifest.repositoryConfig));
  const pullRequests = await manifest.createPullRequests();
  return {
    tag: releases.find((release) => release !== undefined)?.tagName,
    branch: pullRequests.find((pullRequest) => pullRequest !== undefined)?.headBranchName,
  };
}

/** The kinds of commits that lead to a version. So does a breaking change of any kind, and a footer `Release-As`. */
const KINDS_WITH_VERSION = ["feat", "fix", "revert"];

/** release-please gives every shown commit at least a patch release. It proposes nothing if there are no commits. */
class WaitForVersion extends ManifestPlugin {
  override processCommits(commits: ConventionalCommit[]): ConventionalCommit[] {
    const leadsToVersion = ({ type, breaking, notes }: ConventionalCommit): boolean =>
      breaking || KINDS_WITH_VERSION.includes(type) || notes.some(({ title }) => title === "RELEASE AS");
    return commits.some(leadsToVersion) ? commits : [];
  }
}
