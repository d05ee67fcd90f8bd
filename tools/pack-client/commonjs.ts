import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { build, transform } from "esbuild";

/**
 * Adds a CommonJS build to a staged package, in `dist/cjs`, for programs that cannot load ES modules, such as tests of
 * Jest. All entries share their chunks, so that an error of one entry is an instance of another entry's class. It
 * contains what it uses of packages that are only ES modules, with their licences, and the declarations of its entries.
 * @param modules the modules of the entries, relative to `dist` and without extension
 * @param packages the packages that a program installs itself or together with this one
 */
export async function addCommonJs(
  staged: string,
  { modules, packages, nodeModules }: CommonJsOptions,
): Promise<void> {
  const dist = path.join(staged, "dist");
  const cjs = path.join(dist, "cjs");
  const isExternal = (name: string): boolean =>
    packages.peers.has(name) || hasCommonJs(path.join(nodeModules, name));
  const { outputFiles, metafile } = await build({
    entryPoints: modules.map((module) => path.join(dist, `${module}.js`)),
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "neutral",
    write: false,
    metafile: true,
    outdir: cjs,
    outbase: dist,
    chunkNames: "chunks/[name]-[hash]",
    logLevel: "error",
    absWorkingDir: staged,
    nodePaths: [nodeModules],
    external: [...packages.needed, ...packages.peers]
      .filter(isExternal)
      .flatMap((name) => [name, `${name}/*`]),
  });
  for (const { path: file, text } of outputFiles) {
    // A host without ES modules has no import() either.
    const { code } = await transform(text, {
      format: "cjs",
      platform: "node",
      supported: { "dynamic-import": false },
      // Jest runs a test in a context of its own, in which each look at a global is slow: a half took 25 times as long.
      banner: '"use strict"; const { BigInt, Number, Math } = globalThis;',
    });
    write(file, code);
  }
  const embedded = Object.keys(metafile.inputs).flatMap(
    (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? [],
  );
  const declared = copyDeclarations({ dist, cjs, modules, nodeModules, isExternal });
  for (const name of new Set([...embedded, ...declared]))
    copyLicence(path.join(nodeModules, name), path.join(cjs, "embedded", name));
  write(path.join(cjs, "package.json"), '{ "type": "commonjs" }\n');
}

/** What {@link addCommonJs} needs to know about the package. */
export interface CommonJsOptions {
  readonly modules: readonly string[];
  readonly packages: { readonly needed: ReadonlySet<string>; readonly peers: ReadonlySet<string> };
  /** The folder in which the packages are installed. */
  readonly nodeModules: string;
}

const SPECIFIER = /(\b(?:from|import)\s*\(?\s*)"([^"\s]+)"/g;

/**
 * Copies the declarations that the entries refer to, as declarations of CommonJS. TypeScript refuses an ES module that a
 * CommonJS one imports, so those of packages without CommonJS are copied too. Returns the names of these packages.
 */
function copyDeclarations({ dist, cjs, modules, nodeModules, isExternal }: DeclarationOptions): Set<string> {
  const names = new Set<string>();
  const done = new Set<string>();
  const waiting = modules.map((module) => path.join(dist, `${module}.d.ts`));
  /** The place of a copy. */
  const placeOf = (file: string): string => {
    const isOwn = file.startsWith(dist + path.sep);
    const place = isOwn
      ? path.join(cjs, path.relative(dist, file))
      : path.join(cjs, "embedded", path.relative(nodeModules, file));
    return place.replace(/\.d\.mts$/, ".d.ts");
  };
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (done.has(file)) continue;
    done.add(file);
    const from = file;
    const place = placeOf(file);
    const text = readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/gm, "");
    const copied = text.replaceAll(SPECIFIER, (written, before: string, specifier: string) => {
      const found = declarationsAt(specifier, from, nodeModules, isExternal);
      if (found === undefined) return written;
      if (found.name !== undefined) names.add(found.name);
      waiting.push(found.file);
      const relative = path.relative(path.dirname(place), placeOf(found.file)).replace(/\.d\.ts$/, ".js");
      return `${before}"${relative.startsWith(".") ? relative : `./${relative}`}"`;
    });
    write(place, copied);
  }
  return names;
}

interface DeclarationOptions {
  readonly dist: string;
  readonly cjs: string;
  readonly modules: readonly string[];
  readonly nodeModules: string;
  isExternal(name: string): boolean;
}

/** Finds the declarations of a specifier; undefined for a package that is not copied. */
function declarationsAt(
  specifier: string,
  from: string,
  nodeModules: string,
  isExternal: (name: string) => boolean,
): { readonly file: string; readonly name?: string } | undefined {
  if (specifier.startsWith(".")) {
    const file = path.resolve(path.dirname(from), specifier);
    const found = [file, file.replace(/(?<!\.d)\.(m?)(?:js|ts)$/, ".d.$1ts")].find(
      (candidate) => /\.d\.m?ts$/.test(candidate) && existsSync(candidate),
    );
    if (found === undefined) throw new Error(`${from} refers to ${specifier}, which has no declarations`);
    return { file: found };
  }
  const [name = ""] = /^(?:@[^/]+\/)?[^/]+/.exec(specifier) ?? [];
  if (specifier.startsWith("node:") || isExternal(name)) return undefined;
  const folder = path.join(nodeModules, name);
  const { exports } = readManifest(folder);
  const entry = exports?.[`.${specifier.slice(name.length)}`];
  const types = typeof entry === "object" ? entry?.["types"] : undefined;
  if (types === undefined) throw new Error(`${specifier} has no declarations`);
  return { file: path.join(folder, types), name };
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly type?: string;
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
}

/** Returns whether CommonJS can load a package. */
function hasCommonJs(folder: string): boolean {
  const { type, exports } = readManifest(folder);
  return exports === undefined ? type !== "module" : JSON.stringify(exports).includes('"require"');
}

/** Notes what was copied, and the licence, of which some packages have no file. */
function copyLicence(folder: string, to: string): void {
  const { name, version, license } = readManifest(folder);
  if (license === undefined) throw new Error(`${name} has no licence`);
  write(path.join(to, "README.md"), `These are parts of ${name} ${version}, under ${license}.\n`);
  const file = path.join(folder, "LICENSE");
  if (existsSync(file)) cpSync(file, path.join(to, "LICENSE"));
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8")) as Manifest;
}

function write(file: string, text: string): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}
