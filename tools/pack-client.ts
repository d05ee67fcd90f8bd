/**
 * Packs the client as a separate package, `threshold-signing-client`: its compiled entries and the modules that they
 * import, and nothing of the server. `npm run pack:client [-- --to FOLDER]` builds first, writes the tarball to the
 * folder, by default the current one, and prints its path on the last line.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { moduleClosure } from "./pack-client/module-closure.ts";

/** The package's entries, and the module of each one, without its extension. */
const ENTRIES: Readonly<Record<string, string>> = {
  ".": "src/sdk/index",
  "./worker": "src/sdk/worker",
  "./reference": "src/sdk/reference",
  "./admin": "src/sdk/admin/index",
  "./viem": "src/signers/viem/index",
  "./ethers": "src/signers/ethers/index",
  "./solana": "src/signers/solana/index",
  "./sui": "src/signers/sui/index",
  "./bitcoin": "src/signers/bitcoin/index",
};
/** The program of the workers, for a site that serves it itself. */
const WORKER_PROGRAM = "worker-program.js";

const ROOT = path.resolve(import.meta.dirname, "..");
const { values } = parseArgs({ options: { to: { type: "string", default: "." } } });
const destination = path.resolve(values.to);
const folder = mkdtempSync(path.join(tmpdir(), "client-"));
try {
  const dist = path.join(folder, "dist");
  execFileSync(process.execPath, ["--import", "tsx", path.join(ROOT, "tools/build.ts"), dist], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
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
function stage(dist: string, staged: string): { name: string; version: string } {
  const service = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    version: string;
    license: string;
    repository?: object;
    engines: object;
    dependencies: Record<string, string>;
    peerDependencies: Record<string, string>;
  };
  const closure = moduleClosure(Object.values(ENTRIES).map((module) => path.join(dist, `${module}.js`)));
  for (const file of closure.files)
    cpSync(file, path.join(staged, "dist", path.relative(dist, file)), { recursive: true });
  cpSync(path.join(dist, WORKER_PROGRAM), path.join(staged, "dist", WORKER_PROGRAM));
  for (const [from, to] of [
    ["LICENSE", "LICENSE"],
    ["tools/pack-client/README.md", "README.md"],
    ["docs/sdk.md", "docs/sdk.md"],
  ] as const)
    cpSync(path.join(ROOT, from), path.join(staged, to), { recursive: true });
  const versionOf = (name: string): [string, string] => {
    const version = service.dependencies[name] ?? service.peerDependencies[name];
    if (version === undefined) throw new Error(`${name} is imported and is no dependency`);
    return [name, version];
  };
  // A package that only one entry imports is an optional peer: users of that entry install it.
  const peers = [...closure.packages].filter((name) => service.peerDependencies[name] !== undefined);
  const needed = [...closure.packages].filter((name) => !peers.includes(name)).sort();
  const optional = [...closure.optionalPackages, ...peers].sort();
  const manifest = {
    name: "threshold-signing-client",
    version: service.version,
    description: "The TypeScript client of threshold-signing-service: MPC signing keys on Ika and Sui",
    license: service.license,
    ...(service.repository && { repository: service.repository }),
    type: "module",
    sideEffects: false,
    engines: service.engines,
    keywords: ["mpc", "threshold-signatures", "ika", "dwallet", "sui", "client"],
    exports: {
      ...Object.fromEntries(
        Object.entries(ENTRIES).map(([entry, module]) => [
          entry,
          { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` },
        ]),
      ),
      "./package.json": "./package.json",
    },
    files: ["dist", "docs"],
    dependencies: Object.fromEntries(needed.map(versionOf)),
    ...(optional.length > 0 && {
      peerDependencies: Object.fromEntries(optional.map(versionOf)),
      peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
    }),
  };
  writeFileSync(path.join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
