import { normalizeSuiAddress } from "@mysten/sui/utils";
import { dumpMovePackage, initMovePackageBuilder } from "@zktx.io/sui-move-builder/full";
import { asPublished, type ReadDependency } from "./dependencies.ts";
import { createDiskFetcher } from "./fetcher.ts";
import type { MoveFiles } from "./move-files.ts";
import { MOVE_PACKAGES, type MoveNetwork, publishedIds } from "./published-packages.ts";

/** Compiles the Treasury for a network. Throws for an error, a warning, a lint or a package of another network. */
export async function buildTreasury(
  files: MoveFiles,
  network: MoveNetwork,
  read: ReadDependency,
): Promise<CompiledTreasury> {
  await initMovePackageBuilder();
  const built = await dumpMovePackage({
    files: { ...files },
    network,
    fetcher: createDiskFetcher(asPublished(read, network)),
    lintFlag: "all",
    ansiColor: false,
  });
  if ("error" in built) throw new Error(`the Treasury does not compile for ${network}: ${built.error}`);
  if (built.warnings !== undefined && built.warnings.trim() !== "") throw new Error(built.warnings);
  assertOneNetwork(built.dependencies, network);
  return {
    digest: Buffer.from(built.digest).toString("hex"),
    dependencies: built.dependencies.map((id) => normalizeSuiAddress(id)),
    modules: [...built.modules],
  };
}

/** The output of `sui move build --dump-bytecode-as-base64`. */
export interface CompiledTreasury {
  /** The package digest in hex: Blake2b-256 over the modules and over the ids of the dependencies. */
  readonly digest: string;
  /** The ids of the linked packages. */
  readonly dependencies: readonly string[];
  /** The compiled modules in base64. */
  readonly modules: readonly string[];
}

/** Throws unless a build depends on exactly the packages of this network. */
export function assertOneNetwork(dependencies: readonly string[], network: MoveNetwork): void {
  const expected = MOVE_PACKAGES.map((name) => normalizeSuiAddress(publishedIds(name, network).publishedAt));
  const found = dependencies.map((id) => normalizeSuiAddress(id));
  const strangers = found.filter((id) => !expected.includes(id));
  const missing = expected.filter((id) => !found.includes(id));
  if (strangers.length === 0 && missing.length === 0) return;
  const [extra, absent] = [strangers.join(", "), missing.join(", ")];
  throw new Error(
    `a build for ${network} depends on packages of elsewhere (${extra}) and lacks its own (${absent})`,
  );
}
