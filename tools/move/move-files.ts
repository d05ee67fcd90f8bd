import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** Move sources and manifests by their path in the package. */
export type MoveFiles = Readonly<Record<string, string>>;

/** Reads a package's manifest and all Move files below the folder. */
export function readMoveFiles(folder: string): MoveFiles {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  const kept = names.filter((name) => name.endsWith(".move") || name === "Move.toml");
  return Object.fromEntries(kept.map((name) => [name, readFileSync(path.join(folder, name), "utf8")]));
}
