import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { type MoveFiles, readMoveFiles } from "./move-files.ts";
import { type MoveNetwork, type MovePackage, publishedIds, publishedManifest } from "./published-packages.ts";

/** Reads the sources of a dependency. */
export type ReadDependency = (name: MovePackage) => MoveFiles;

/** The fakes of this repository: they have the signatures of Sui and Ika, so the Treasury's bytecode is the same. */
export function readFake(name: MovePackage): MoveFiles {
  return readMoveFiles(path.join(FAKES, name));
}

const FAKES = path.resolve(import.meta.dirname, "../../move/fakes");

/**
 * Reads the networks' own code from a folder with checkouts of Sui (`sui`) and of Ika (`ika`). Throws if the lock file
 * of an Ika package names another network, or another package of that network.
 */
export function readDeployed(checkouts: string, network: MoveNetwork): ReadDependency {
  return (name) => {
    if (isOfSui(name)) return readMoveFiles(suiFolder(checkouts, name));
    const folder = path.join(checkouts, "ika/deployed_contracts", network, name);
    const lock = path.join(folder, "Move.lock");
    if (!existsSync(lock))
      throw new Error(`${folder} has no Move.lock, so nothing says which network it is of`);
    assertLockedId(readFileSync(lock, "utf8"), name, network);
    return readMoveFiles(folder);
  };
}

/** Throws unless a lock file says that this network has the package at its known address. */
export function assertLockedId(lock: string, name: MovePackage, network: MoveNetwork): void {
  const environment = lock.split(`[env.${network}]`)[1]?.split("\n[")[0] ?? "";
  const found = /original-published-id = "(0x[0-9a-f]+)"/.exec(environment)?.[1];
  const { originalId } = publishedIds(name, network);
  if (found !== originalId)
    throw new Error(
      `the lock file of ${name} has ${found ?? "no address"} for ${network}; it is at ${originalId}`,
    );
}

/** Replaces the manifest of a dependency with that of a network. */
export function asPublished(read: ReadDependency, network: MoveNetwork): ReadDependency {
  return (name) => ({ ...read(name), "Move.toml": publishedManifest(name, publishedIds(name, network)) });
}

function isOfSui(name: MovePackage): boolean {
  return name === "move-stdlib" || name === "sui-framework";
}

function suiFolder(checkouts: string, name: MovePackage): string {
  return path.join(checkouts, "sui/crates/sui-framework/packages", name);
}
