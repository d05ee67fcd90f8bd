/**
 * Packs the local network as a separate package, `threshold-signing-localnet`: the compiled modules that it needs, and
 * nothing of the service. `npm run pack:localnet [-- --to FOLDER]` compiles first, writes the tarball to the folder, by
 * default the current one, and prints its path on the last line.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { moduleClosure } from "./pack-client/module-closure.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const ENTRY = "src/localnet/localnet";
const COMMAND = "src/localnet/main";
/** The modules that start threads name these, and do not import them. */
const THREADS = ["src/localnet/mpc/network-mpc-worker"];
/** What a module reads next to itself. */
const DATA = "move/treasury/compiled.json";

const { values } = parseArgs({ options: { to: { type: "string", default: "." } } });
const destination = path.resolve(values.to);
const folder = mkdtempSync(path.join(tmpdir(), "localnet-package-"));
try {
  const dist = path.join(folder, "dist");
  execFileSync(
    path.join(ROOT, "node_modules/.bin/tsc"),
    // `npm run check` checks the types.
    ["-p", path.join(ROOT, "tsconfig.build.json"), "--outDir", dist, "--noCheck"],
    { stdio: ["ignore", "ignore", "inherit"] },
  );
  const staged = path.join(folder, "package");
  const manifest = stage(dist, staged);
  mkdirSync(destination, { recursive: true });
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", destination], {
    cwd: staged,
    stdio: ["ignore", "ignore", "inherit"],
  });
  console.log(path.join(destination, `${manifest.name}-${manifest.version}.tgz`));
} finally {
  rmSync(folder, { recursive: true });
}

/** Lays the package out in a folder. */
function stage(dist: string, staged: string): { readonly name: string; readonly version: string } {
  const service = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    version: string;
    license: string;
    repository?: object;
    engines: object;
  };
  const { files, packages } = moduleClosure(
    [ENTRY, COMMAND, ...THREADS].map((module) => path.join(dist, `${module}.js`)),
    { usesNode: true },
  );
  for (const file of files) {
    const place = path.join(staged, "dist", path.relative(dist, file));
    mkdirSync(path.dirname(place), { recursive: true });
    cpSync(file, place);
  }
  chmodSync(path.join(staged, "dist", `${COMMAND}.js`), 0o755);
  for (const [from, to] of [
    [DATA, `dist/${DATA}`],
    ["LICENSE", "LICENSE"],
    ["tools/pack-localnet/README.md", "README.md"],
  ] as const)
    cpSync(path.join(ROOT, from), path.join(staged, to), { recursive: true });
  const manifest = {
    name: "threshold-signing-localnet",
    version: service.version,
    description: "A local Ika network on a Sui fullnode, with real cryptography, for tests without a network",
    license: service.license,
    ...(service.repository && { repository: service.repository }),
    type: "module",
    engines: service.engines,
    keywords: ["ika", "dwallet", "sui", "localnet", "mpc", "testing"],
    bin: { "tss-localnet": `./dist/${COMMAND}.js` },
    exports: {
      ".": { types: `./dist/${ENTRY}.d.ts`, default: `./dist/${ENTRY}.js` },
      "./package.json": "./package.json",
    },
    files: ["dist"],
    dependencies: Object.fromEntries([...packages].sort().map(versionOf)),
  };
  writeFileSync(path.join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;

  /** The exact version that is installed: declarations also refer to packages that Sui's SDK brings. */
  function versionOf(name: string): [string, string] {
    const installed = readFileSync(path.join(ROOT, "node_modules", name, "package.json"), "utf8");
    const { version } = JSON.parse(installed) as { version: string };
    return [name, version];
  }
}
