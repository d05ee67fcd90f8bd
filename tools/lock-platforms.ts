/**
 * Completes `package-lock.json` with the native packages of every platform. A registry may serve only some of them; npm
 * then omits the others from the lock file, and `npm ci` refuses it, or installs no binary on that platform. The
 * entries that npm would have recorded follow from the packages' names, except for the checksum.
 */
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

interface LockedPackage {
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface LockFile {
  packages: Record<string, LockedPackage>;
}

const FILE = path.resolve(import.meta.dirname, "../package-lock.json");
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS: Readonly<Record<string, string>> = { amd64: "x64", armv7: "arm" };
const KNOWN_PROCESSORS = ["arm", "arm64", "ia32", "ppc64", "riscv64", "s390x", "x64"];

const lock = JSON.parse(readFileSync(FILE, "utf8")) as LockFile;
const { "": root, ...packages } = lock.packages;
const missing = Object.values(packages).flatMap((parent) =>
  Object.entries(parent.optionalDependencies ?? {})
    .filter(([name]) => packages[`node_modules/${name}`] === undefined)
    .map(([name, version]) => [`node_modules/${name}`, lockedPlatform(name, version, parent)] as const),
);
const all = [...Object.entries(packages), ...missing].sort(([a], [b]) => a.localeCompare(b, "en"));
lock.packages = { "": root!, ...Object.fromEntries(all) };
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${missing.length} packages added`);

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
