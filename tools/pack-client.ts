/**
 * Packs the client as a separate package, `threshold-signing-client`: its compiled entries and the modules that they
 * import, and nothing of the server. `npm run pack:client [-- --to FOLDER]` builds first, writes the tarball to the
 * folder, by default the current one, and prints its path on the last line. `--built FOLDER` packs what `tools/build.ts`
 * has built there instead.
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { addCommonJs } from "./pack-client/commonjs.ts";
import { copyEmbedded, embeddedPackage, importCopies } from "./pack-client/embedded-package.ts";
import { moduleClosure } from "./pack-client/module-closure.ts";

/** The package's entries, and the module of each one, without its extension. */
const ENTRIES: Readonly<Record<string, string>> = {
  ".": "src/client/sdk/index",
  "./worker": "src/client/sdk/worker",
  "./reference": "src/client/sdk/reference",
  "./admin": "src/client/sdk/admin/index",
  "./receipts": "src/client/sdk/receipts/index",
  "./passkey": "src/client/seed/passkey/index",
  "./words": "src/client/seed/words/index",
  "./pieces": "src/client/seed/pieces/index",
  "./keys": "src/client/keys/index",
  "./react": "src/client/react/index",
  "./viem": "src/client/signers/viem/index",
  "./ethers": "src/client/signers/ethers/index",
  "./solana": "src/client/signers/solana/index",
  "./sui": "src/client/signers/sui/index",
  "./bitcoin": "src/client/signers/bitcoin/index",
};
/** The program of the workers, for a site that serves it itself. */
const WORKER_PROGRAM = "worker-program.js";

const ROOT = path.resolve(import.meta.dirname, "..");
/**
 * The client contains the modules of Sui's SDK that it uses. The whole package needs 50 MB of others, TypeScript among
 * them, and a newer Node.
 */
const EMBEDDED = embeddedPackage(path.join(ROOT, "node_modules/@mysten/sui"));
/** The folder of those modules, relative to `dist`. */
const COPIES = "embedded/sui";
/** The entry that extends a class of Sui's SDK. Users of that entry have their own copy of it. */
const OWN_SUI = path.join("src", "client", "signers", "sui");
const { values } = parseArgs({
  options: { to: { type: "string", default: "." }, built: { type: "string" } },
});
const destination = path.resolve(values.to);
const folder = mkdtempSync(path.join(tmpdir(), "client-"));
try {
  const dist = path.resolve(values.built ?? path.join(folder, "dist"));
  if (values.built === undefined) {
    execFileSync(process.execPath, ["--import", "tsx", path.join(ROOT, "tools/build.ts"), dist], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "inherit"],
    });
  }
  const staged = path.join(folder, "package");
  const manifest = await stage(dist, staged);
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
async function stage(dist: string, staged: string): Promise<{ name: string; version: string }> {
  const service = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
    version: string;
    license: string;
    repository?: object;
    engines: object;
    dependencies: Record<string, string>;
    peerDependencies: Record<string, string>;
  };
  const embeds = (file: string): boolean => !file.startsWith(path.join(dist, OWN_SUI) + path.sep);
  const closure = moduleClosure(
    Object.values(ENTRIES).map((module) => path.join(dist, `${module}.js`)),
    { embedding: { embedded: EMBEDDED, embeds } },
  );
  const copies = path.join(staged, "dist", COPIES);
  copyEmbedded(EMBEDDED, closure.embeddedFiles, copies);
  for (const file of closure.files) {
    const place = path.join(staged, "dist", path.relative(dist, file));
    const text = readFileSync(file, "utf8");
    mkdirSync(path.dirname(place), { recursive: true });
    writeFileSync(place, embeds(file) ? importCopies(text, place, EMBEDDED, copies) : text);
  }
  cpSync(path.join(dist, WORKER_PROGRAM), path.join(staged, "dist", WORKER_PROGRAM));
  for (const [from, to] of [
    ["LICENSE", "LICENSE"],
    ["tools/pack-client/README.md", "README.md"],
    ["docs/sdk.md", "docs/sdk.md"],
  ] as const)
    cpSync(path.join(ROOT, from), path.join(staged, to), { recursive: true });
  const versionOf = (name: string): [string, string] => {
    const version =
      service.dependencies[name] ?? service.peerDependencies[name] ?? EMBEDDED.dependencies[name];
    if (version === undefined) throw new Error(`${name} is imported and is no dependency`);
    // The service has an exact version of what its users may choose.
    return [name, name === EMBEDDED.name ? `^${version}` : version];
  };
  // For tools that do not read "exports".
  const folders = Object.keys(ENTRIES).flatMap((entry) => (entry === "." ? [] : [entry.slice(2)]));
  for (const name of folders) {
    const module = `../dist/cjs/${ENTRIES[`./${name}`]}`;
    mkdirSync(path.join(staged, name));
    const place = { main: `${module}.js`, types: `${module}.d.ts` };
    writeFileSync(path.join(staged, name, "package.json"), `${JSON.stringify(place, null, 2)}\n`);
  }
  // A package that only one entry imports is an optional peer: users of that entry install it.
  const isPeer = (name: string): boolean =>
    service.peerDependencies[name] !== undefined || name === EMBEDDED.name;
  const peers = [...closure.packages].filter(isPeer);
  const needed = [...closure.packages].filter((name) => !peers.includes(name)).sort();
  const optional = [...closure.optionalPackages, ...peers].sort();
  await addCommonJs(staged, {
    modules: Object.values(ENTRIES),
    packages: { needed: new Set(needed), peers: new Set(optional) },
    nodeModules: path.join(ROOT, "node_modules"),
  });
  const manifest = {
    name: "threshold-signing-client",
    version: service.version,
    description: "The TypeScript client of threshold-signing-service: MPC signing keys on Ika and Sui",
    license: service.license,
    ...(service.repository && { repository: service.repository }),
    type: "module",
    main: `./dist/cjs/${ENTRIES["."]}.js`,
    types: `./dist/cjs/${ENTRIES["."]}.d.ts`,
    sideEffects: false,
    engines: service.engines,
    keywords: ["mpc", "threshold-signatures", "ika", "dwallet", "sui", "client"],
    exports: {
      ...Object.fromEntries(
        Object.entries(ENTRIES).map(([entry, module]) => [
          entry,
          {
            import: { types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` },
            require: { types: `./dist/cjs/${module}.d.ts`, default: `./dist/cjs/${module}.js` },
            default: `./dist/${module}.js`,
          },
        ]),
      ),
      "./package.json": "./package.json",
    },
    files: ["dist", "docs", ...folders],
    dependencies: Object.fromEntries(needed.map(versionOf)),
    ...(optional.length > 0 && {
      peerDependencies: Object.fromEntries(optional.map(versionOf)),
      peerDependenciesMeta: Object.fromEntries(optional.map((name) => [name, { optional: true }])),
    }),
  };
  writeFileSync(path.join(staged, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}
