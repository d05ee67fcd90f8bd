import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** An installed package of which another package contains the modules that it uses. */
export interface EmbeddedPackage {
  readonly name: string;
  /** The versions of the packages that it needs. */
  readonly dependencies: Readonly<Record<string, string>>;
  /** Its folder. */
  readonly folder: string;
  /** Returns the module and the declarations of an entry; undefined if the specifier names another package. */
  entryFiles(specifier: string): { readonly module: string; readonly declarations: string } | undefined;
}

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, { readonly types: string; readonly import: string }>>;
}

/** Reads the manifest of an installed package. */
export function embeddedPackage(folder: string): EmbeddedPackage {
  const { name, dependencies, exports } = readManifest(folder);
  return {
    name,
    dependencies,
    folder,
    entryFiles(specifier) {
      if (specifier !== name && !specifier.startsWith(`${name}/`)) return undefined;
      const entry = exports[`.${specifier.slice(name.length)}`];
      if (entry === undefined) throw new Error(`${name} does not export ${specifier}`);
      return { module: path.join(folder, entry.import), declarations: path.join(folder, entry.types) };
    },
  };
}

/** Copies modules of an embedded package to a folder, with its licence and a note of what was changed. */
export function copyEmbedded({ folder }: EmbeddedPackage, files: readonly string[], to: string): void {
  for (const file of files) {
    const place = path.join(to, path.relative(folder, file));
    mkdirSync(path.dirname(place), { recursive: true });
    // The source maps are not copied, and a bundler would look for them.
    writeFileSync(place, readFileSync(file, "utf8").replace(/^\/\/# sourceMappingURL=.*\n?/gm, ""));
  }
  cpSync(path.join(folder, "LICENSE"), path.join(to, "LICENSE"));
  const { name, version } = readManifest(folder);
  writeFileSync(
    path.join(to, "README.md"),
    `These are modules of ${name} ${version}, under the licence beside this file. The references to source maps were removed.\n`,
  );
}

/**
 * Makes a module import the copied modules of an embedded package.
 * @param file the place of the module that imports them
 * @param to the folder of the copies
 */
export function importCopies(text: string, file: string, embedded: EmbeddedPackage, to: string): string {
  return text.replaceAll(
    /(\b(?:from|import)\s*\(?\s*)"([^"]+)"/g,
    (written, before: string, specifier: string) => {
      const module = embedded.entryFiles(specifier)?.module;
      if (module === undefined) return written;
      const relative = path.relative(
        path.dirname(file),
        path.join(to, path.relative(embedded.folder, module)),
      );
      return `${before}"${relative.startsWith(".") ? relative : `./${relative}`}"`;
    },
  );
}

function readManifest(folder: string): Manifest {
  const file = path.join(folder, "package.json");
  if (!existsSync(file)) throw new Error(`nothing is installed at ${folder}`);
  return JSON.parse(readFileSync(file, "utf8")) as Manifest;
}
