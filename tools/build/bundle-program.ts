import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import { describeAll } from "../../src/cli/command-line/help.ts";

/**
 * Bundles the command `tss` and the service's threads with the packages that they use into `program` of the compiled
 * package, because loading a thousand small modules takes longer than most commands. The compiled entries then only
 * import their bundles. Throws if a bundled package reads files next to its own modules, which the bundle does not have.
 * @param root the repository
 * @param dist the compiled package
 */
export async function bundleProgram(root: string, dist: string): Promise<void> {
  const { metafile } = await build({
    entryPoints: Object.fromEntries(
      ENTRIES.map((entry) => [path.basename(entry), path.join(dist, "src", `${entry}.js`)]),
    ),
    outdir: path.join(dist, FOLDER),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    external: [...UNBUNDLED, ...optionalPackages(root)],
    nodePaths: [path.join(root, "node_modules")],
    // Bundled CommonJS modules require Node's own.
    banner: {
      js: 'import { createRequire as createRequireOf } from "node:module"; const require = createRequireOf(import.meta.url);',
    },
    plugins: [keepModuleUrls(dist)],
    define: { TSS_HELP: JSON.stringify(await describeAll()) },
    legalComments: "linked",
    metafile: true,
    logLevel: "warning",
  });
  const faults = Object.keys(metafile.inputs).filter(
    (file) => file.includes("node_modules/") && /\bimport\.meta\b/.test(readFileSync(file, "utf8")),
  );
  if (faults.length > 0) throw new Error(`these cannot be bundled, add them to UNBUNDLED: ${faults.join()}`);
  for (const entry of ENTRIES) {
    const file = path.join(dist, "src", `${entry}.js`);
    const bundle = path.relative(path.dirname(file), path.join(dist, FOLDER, `${path.basename(entry)}.js`));
    const [shebang = ""] = /^#!.*\n/.exec(readFileSync(file, "utf8")) ?? [];
    writeFileSync(file, `${shebang}import "${bundle}";\n`);
  }
}

const FOLDER = "program";

/** The modules that start a process or a thread. */
const ENTRIES = [
  "cli/main",
  "localnet/mpc/network-mpc-worker",
  "service/app/localnet-worker",
  "service/onboarding/parameters-worker",
  "service/platform/store/pglite-worker",
  "service/signing/verify/verify-worker",
];

/** Packages that read files of their own or are not installed everywhere. */
const UNBUNDLED = [
  "@electric-sql/pglite",
  "@ika.xyz/ika-wasm",
  "@prisma/client/runtime/*",
  "pg-native",
  "pino",
];

/** The packages that a user installs only if they need them. */
function optionalPackages(root: string): readonly string[] {
  const { peerDependencies } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    peerDependencies: Readonly<Record<string, string>>;
  };
  return Object.keys(peerDependencies).flatMap((name) => [name, `${name}/*`]);
}

/** Lets our own modules find files and threads next to themselves as if they were not bundled. */
function keepModuleUrls(dist: string): Plugin {
  return {
    name: "module-urls",
    setup({ onLoad }) {
      onLoad({ filter: /\.js$/ }, ({ path: file }) => {
        if (!file.startsWith(path.join(dist, "src/"))) return undefined;
        const place = JSON.stringify(path.relative(path.join(dist, FOLDER), file));
        const contents = readFileSync(file, "utf8").replaceAll(
          "import.meta.url",
          `new URL(${place}, import.meta.url).href`,
        );
        return { contents, loader: "js" };
      });
    },
  };
}
