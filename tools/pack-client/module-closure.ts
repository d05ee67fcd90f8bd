import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import type { EmbeddedPackage } from "./embedded-package.ts";

/** The files and packages of a program. */
export interface ModuleClosure {
  /** The files of this project, sorted; each module with its declarations. */
  readonly files: readonly string[];
  /** The files of the embedded package. */
  readonly embeddedFiles: readonly string[];
  /** The packages that are imported when the program starts. */
  readonly packages: ReadonlySet<string>;
  /** The packages that are imported only on demand. */
  readonly optionalPackages: ReadonlySet<string>;
}

const BLOCK_COMMENTS = /\/\*[\s\S]*?\*\//g;
// A specifier has no spaces. The text after a string that ends with "from" has.
const STATIC = /(?:^|[\s;}])(?:from|import)\s*"([^"\s]+)"/g;
const DYNAMIC = /\bimport\(\s*"([^"]+)"\s*\)/g;

/**
 * Follows the imports of compiled modules and their declarations from several entries. Unless `usesNode` is true, throws
 * if a module imports one of Node's modules, because the client's code also runs in browsers.
 */
export function moduleClosure(
  entries: readonly string[],
  { embedding, usesNode = false }: { readonly embedding?: EmbeddingRule; readonly usesNode?: boolean },
): ModuleClosure {
  const files = new Set<string>();
  const packages = new Set<string>();
  const dynamicPackages = new Set<string>();
  const waiting = entries.map((entry) => path.resolve(entry));
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    const declarations = file.replace(/\.js$/, ".d.ts");
    if (declarations !== file && existsSync(declarations)) waiting.push(declarations);
    const text = readFileSync(file, "utf8").replaceAll(BLOCK_COMMENTS, "");
    // A type may be imported with `import("...")`, which never runs.
    const isDeclaration = /\.d\.m?ts$/.test(file);
    for (const [pattern, found] of [
      [STATIC, packages],
      [DYNAMIC, isDeclaration ? packages : dynamicPackages],
    ] as const) {
      for (const [, specifier = ""] of text.matchAll(pattern)) {
        const entry = embedding?.embeds(file) ? embedding.embedded.entryFiles(specifier) : undefined;
        if (specifier.startsWith("."))
          waiting.push(...modulesAt(path.resolve(path.dirname(file), specifier), isDeclaration));
        // The declarations that a module needs are found through its own declarations.
        else if (entry !== undefined) waiting.push(isDeclaration ? entry.declarations : entry.module);
        else if (specifier.startsWith("node:")) {
          if (!usesNode) throw new Error(`${file} imports ${specifier}`);
        } else found.add(packageOf(specifier));
      }
    }
  }
  const isEmbedded = (file: string): boolean =>
    embedding !== undefined && file.startsWith(embedding.embedded.folder + path.sep);
  return {
    files: [...files].filter((file) => !isEmbedded(file)).sort(),
    embeddedFiles: [...files].filter(isEmbedded).sort(),
    packages,
    optionalPackages: new Set([...dynamicPackages].filter((name) => !packages.has(name))),
  };
}

/** Says which modules contain the modules of another package that they import. */
export interface EmbeddingRule {
  readonly embedded: EmbeddedPackage;
  /** Returns whether a module gets its own copies. The others import the package. */
  embeds(file: string): boolean;
}

/** The files of one module, from its specifier: compiled, declaration, or both. Data is also a module. */
function modulesAt(file: string, isDeclaration: boolean): string[] {
  // An embedded module brings no declarations, and its declarations bring no module.
  if (file.endsWith(".mjs")) return [isDeclaration ? file.replace(/(\.d)?\.mjs$/, ".d.mts") : file];
  const candidates = [file, file.replace(/\.js$/, ".d.ts"), file.replace(/\.ts$/, ".d.ts")];
  const found = [...new Set(candidates)].filter((candidate) => existsSync(candidate));
  if (found.length === 0) throw new Error(`nothing is at ${file}`);
  return found;
}

/** `@scope/name` of `@scope/name/entry.js`. */
function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}
