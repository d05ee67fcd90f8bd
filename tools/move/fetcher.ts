import path from "node:path";
import type { MovePackageInput } from "@zktx.io/sui-move-builder/full";
import type { ReadDependency } from "./dependencies.ts";
import { MOVE_PACKAGES } from "./published-packages.ts";

/** Gives the builder its dependencies from disk. The builder's own fetcher would call GitHub. */
export function createDiskFetcher(read: ReadDependency): NonNullable<MovePackageInput["fetcher"]> {
  const load = async (folder: string): Promise<Record<string, string>> => {
    const name = MOVE_PACKAGES.find((known) => known === path.basename(folder));
    if (name === undefined) throw new Error(`the Treasury may not depend on ${folder}`);
    return { ...read(name) };
  };
  return {
    fetchLocal: (folder) => load(folder),
    fetch: (_url, _revision, folder = "") => load(folder),
    fetchFile: async () => null,
    getResolvedSha: (_url, revision) => revision,
  };
}
