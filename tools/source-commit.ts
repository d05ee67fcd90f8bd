import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";

/** A commit's name in hex; `-dirty` says that the sources differ from it. */
const COMMIT = /^[0-9a-f]{40}(-dirty)?$/;

/**
 * Returns the git commit of the sources in a folder. Undefined if no commit is given and the folder is not itself a git
 * checkout: a folder of sources inside another project's checkout does not have that project's commit.
 * @param given the commit, if the build has the sources without git, as in an image; empty is the same as absent
 */
export function sourceCommit(root: string, given: string | undefined): string | undefined {
  if (given !== undefined && given !== "") {
    if (!COMMIT.test(given)) throw new Error("SOURCE_COMMIT takes a git commit: 40 hex digits");
    return given;
  }
  const top = git(root, "rev-parse", "--show-toplevel");
  if (top === undefined || realpathSync(top) !== realpathSync(root)) return undefined;
  return git(root, "describe", "--always", "--exclude=*", "--abbrev=40", "--dirty");
}

/** Returns git's output; undefined without git, a checkout or a commit. */
function git(folder: string, ...args: string[]): string | undefined {
  try {
    return execFileSync("git", args, { cwd: folder, stdio: ["ignore", "pipe", "ignore"] })
      .toString()
      .trim();
  } catch {
    return undefined;
  }
}
