import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { compiledProgram, programEnvironment } from "../environment.ts";
import { ROOT } from "./source-files.ts";

/** The fields of a package's manifest that the tests read. */
interface Manifest {
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** An installed package. */
export interface InstalledClient {
  readonly tarball: string;
  /** The folder, and each package that came with it, relative to `node_modules`. */
  readonly packages: readonly string[];
}

/** Packs the client from what this run has compiled, and installs it as {@link installPacked} does. */
export function installClient(folder: string): InstalledClient {
  const dist = compiledProgram.folder();
  const built = dist === undefined ? [] : ["--built", dist];
  return installPacked(folder, { script: "pack:client", name: "threshold-signing-client", built });
}

/**
 * Packs a package and installs it in a folder without a registry: only the package, its dependencies and theirs, as this
 * checkout has them installed.
 */
export function installPacked(
  folder: string,
  {
    script,
    name: packed,
    built = [],
  }: { readonly script: string; readonly name: string; readonly built?: readonly string[] },
): InstalledClient {
  const said = execFileSync("npm", ["run", "--silent", script, "--", "--to", folder, ...built], {
    cwd: ROOT,
    env: programEnvironment,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const tarball = said.toString().trim().split("\n").at(-1) ?? "";
  const modules = path.join(folder, "node_modules");
  const own = path.join(modules, packed);
  mkdirSync(own, { recursive: true });
  execFileSync("tar", ["-xzf", tarball, "--strip-components", "1", "-C", own]);
  const packages = [packed];
  const waiting = wantedBy(own).map((name) => ({ name, from: ROOT }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const place = findPackage(next.name, next.from);
    const at = path.relative(path.join(ROOT, "node_modules"), place);
    if (packages.includes(at)) continue;
    packages.push(at);
    // A package that is nested in another one is copied with it.
    cpSync(place, path.join(modules, at), {
      recursive: true,
      filter: (file) => !path.relative(place, file).split(path.sep).includes("node_modules"),
    });
    waiting.push(...wantedBy(place).map((name) => ({ name, from: place })));
  }
  return { tarball, packages };
}

/** The packages that npm installs together with one. */
function wantedBy(folder: string): string[] {
  const manifest = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
  const peers = Object.keys(manifest.peerDependencies ?? {}).filter(
    (name) => manifest.peerDependenciesMeta?.[name]?.optional !== true,
  );
  return [...Object.keys(manifest.dependencies ?? {}), ...peers];
}

/** The folder in which Node finds a package, from a folder of this checkout. */
function findPackage(name: string, from: string): string {
  for (let folder = from; folder.startsWith(ROOT); folder = path.dirname(folder)) {
    const place = path.join(folder, "node_modules", name);
    if (existsSync(path.join(place, "package.json"))) return place;
  }
  throw new Error(`${name} is not installed`);
}
