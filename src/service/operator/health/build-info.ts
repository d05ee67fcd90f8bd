import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** The running version. */
export interface BuildInfo {
  /** The version of the package. */
  readonly version: string;
  /**
   * The git commit of the sources, in hex. It ends in `-dirty` if the build had uncommitted changes. Undefined if the
   * process runs the sources themselves, or if the build did not know it.
   */
  readonly commit: string | undefined;
}

/** The version from `package.json`, and the commit from the file that `npm run build` writes. */
export const BUILD_INFO: BuildInfo = {
  version: (createRequire(import.meta.url)("threshold-signing-service/package.json") as { version: string })
    .version,
  commit: readCommit(new URL("../../../../build.json", import.meta.url)),
};

/** Reads the build's commit. Undefined without the file, which only a build has. */
export function readCommit(file: URL): string | undefined {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return (JSON.parse(text) as { commit?: string }).commit;
}
