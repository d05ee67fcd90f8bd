import { Manifest } from "release-please";

/** What release-please sees of the repository: GitHub, or a repository that a test made. */
export type Repository = Parameters<typeof Manifest.fromManifest>[0];

/** What changed on GitHub. */
export interface ReleaseOutcome {
  /** The tag of the release whose Release PR was merged. Undefined if none waited. */
  readonly tag: string | undefined;
  /** The branch of the open Release PR. Undefined if no commit since the last release shows in the changelog. */
  readonly branch: string | undefined;
}

/**
 * Tags the release whose Release PR was merged, then opens or updates the Release PR of what follows. The rules are in
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
