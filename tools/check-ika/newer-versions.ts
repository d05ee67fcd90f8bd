import semver from "semver";

/** The versions after the used one, each list in ascending order. */
export interface NewerVersions {
  readonly stable: readonly string[];
  readonly prereleases: readonly string[];
}

/**
 * Finds the published versions that are newer than the used one. Versions that are not semantic versions are ignored.
 * Example: `newerVersions("0.4.1", ["0.2.7", "0.4.1", "0.10.0", "1.0.0-beta.1"])` has 0.10.0 as stable and 1.0.0-beta.1
 * as a prerelease.
 */
export function newerVersions(used: string, published: readonly string[]): NewerVersions {
  const newer = published.filter((version) => semver.valid(version) !== null && semver.gt(version, used));
  newer.sort(semver.compare);
  return {
    stable: newer.filter((version) => semver.prerelease(version) === null),
    prereleases: newer.filter((version) => semver.prerelease(version) !== null),
  };
}
