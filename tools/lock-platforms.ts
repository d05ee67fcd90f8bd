/**
 * Completes the lock files of the project and of its site, so that `npm ci` installs and verifies the same packages on every platform:
 *
 * - It adds the native packages of other platforms. A registry may serve only some of them; npm then omits the others,
 *   and `npm ci` refuses the lock file, or installs no binary on that platform. Their entries follow from their names.
 * - It asks the registry for each missing checksum. Without one, `npm ci` cannot verify a package.
 * - It records the versions of Node that suffice for the packages of `SUFFICIENT_NODE`.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

interface LockedPackage {
  readonly version: string;
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly link?: boolean;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly engines?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  packages: Record<string, LockedPackage>;
}

const ROOT = path.resolve(import.meta.dirname, "..");
const FILES = ["package-lock.json", "site/package-lock.json"];
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS: Readonly<Record<string, string>> = { amd64: "x64", armv7: "arm" };
const KNOWN_PROCESSORS = ["arm", "arm64", "ia32", "ppc64", "riscv64", "s390x", "x64"];

/**
 * Packages that need less than the Node that they declare. CI uses the first three on every supported version. Only
 * `prisma dev` loads the last one, and nothing here runs that.
 */
const SUFFICIENT_NODE: Readonly<Record<string, string>> = {
  "@bufbuild/protoc-gen-es": ">=20.19",
  "@connectrpc/connect-node": ">=20.19",
  "@mysten/sui": ">=20.19",
  "@prisma/streams-local": ">=20.19",
};

for (const file of FILES) {
  const { platforms, checksums } = complete(path.join(ROOT, file));
  console.log(`${file}: ${platforms} packages and ${checksums} checksums added`);
}

/** Completes one lock file. */
function complete(file: string): { platforms: number; checksums: number } {
  const lock = JSON.parse(readFileSync(file, "utf8")) as LockFile;
  const { "": root, ...packages } = lock.packages;
  const missing = Object.values(packages).flatMap((parent) =>
    Object.entries(parent.optionalDependencies ?? {})
      .filter(([name]) => packages[`node_modules/${name}`] === undefined)
      .map(([name, version]) => [`node_modules/${name}`, lockedPlatform(name, version, parent)] as const),
  );
  const entries: Record<string, LockedPackage> = {};
  let checksums = 0;
  for (const [place, entry] of [...Object.entries(packages), ...missing].sort(([a], [b]) =>
    a.localeCompare(b, "en"),
  )) {
    const integrity = isVerifiable(entry) ? undefined : readChecksum(place, entry);
    if (integrity !== undefined) checksums++;
    entries[place] = withNode(place, integrity === undefined ? entry : withChecksum(entry, integrity));
  }
  lock.packages = { "": root!, ...entries };
  writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
  return { platforms: missing.length, checksums };
}

/** Returns whether `npm ci` can verify an entry. The checksum of a package covers the packages in its own archive. */
function isVerifiable({ integrity, inBundle, link }: LockedPackage): boolean {
  return integrity !== undefined || inBundle === true || link === true;
}

/** Asks the registry for the checksum of a package. */
function readChecksum(place: string, { version }: LockedPackage): string {
  const spec = `${place.replace(/^.*node_modules\//, "")}@${version}`;
  try {
    return execFileSync("npm", ["view", spec, "dist.integrity"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    throw new Error(
      `the registry does not serve ${spec}; choose a version that it serves for every platform`,
    );
  }
}

/** Adds a checksum to an entry, in the place where npm writes it. */
function withChecksum({ version, ...rest }: LockedPackage, integrity: string): LockedPackage {
  return { version, integrity, ...rest };
}

/** Replaces the Node that a package declares by the one that suffices. */
function withNode(place: string, entry: LockedPackage): LockedPackage {
  const node = SUFFICIENT_NODE[place.replace("node_modules/", "")];
  return node === undefined ? entry : { ...entry, engines: { ...entry.engines, node } };
}

/** Reads a platform from a name: `@oxlint/binding-linux-arm64-musl` is for Linux on arm64 with the C library musl. */
function lockedPlatform(name: string, version: string, parent: LockedPackage): LockedPackage {
  const words = (name.split("/").pop() ?? "").split("-").map((word) => PROCESSORS[word] ?? word);
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => KNOWN_PROCESSORS.includes(word));
  if (os.length !== 1 || cpu.length !== 1) throw new Error(`the platform of ${name} is not in its name`);
  const isMusl = words.some((word) => word.startsWith("musl"));
  const isGnu = words.some((word) => word.startsWith("gnu"));
  return {
    version,
    cpu,
    ...(parent.dev ? { dev: true } : {}),
    ...(isMusl ? { libc: ["musl"] } : isGnu ? { libc: ["glibc"] } : {}),
    optional: true,
    os,
  };
}
