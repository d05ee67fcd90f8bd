import { Manifest } from "release-please";

/** The repository as release-please sees it: GitHub, or a test's repository. */
export type Repository = Parameters<typeof Manifest.fromManifest>[0];

/** The changes on GitHub. */
export interface ReleaseOutcome {
  /** The tag of the release whose Release PR was merged; undefined if none was waiting. */
  readonly tag: string | undefined;
  /** The branch of the open Release PR; undefined if no commit since the last release is shown in the changelog. */
  readonly branch: string | undefined;
}

/**
 * Tags the release whose Release PR was merged, then opens or updates the next Release PR. The rules are in
 * `release-please-config.json`.
 */
export async function runRelease(repository: Repository, targetBranch: string): Promise<ReleaseOutcome> {
  const releases = await (await Manifest.fromManifest(repository, targetBranch)).createReleases();
  const pullRequests = await (await Manifest.fromManifest(repository, targetBranch)).createPullRequests();
  return {
    tag: releases.find((release) => release !== undefined)?.tagName,
    branch: pullRequests.find((pullRequest) => pullRequest !== undefined)?.headBranchName,
  };
}
