import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/** The repository's top folder. */
export const ROOT = path.resolve(import.meta.dirname, "../../..");

/** A text file of the repository. */
export interface SourceFile {
  /** From the top folder, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Reads one file. */
export function readSource(file: string): SourceFile {
  return { path: file, text: readFileSync(path.join(ROOT, file), "utf8") };
}

/** Reads all files below these folders whose names end in one of the extensions. */
export function sourcesBelow(folders: readonly string[], extensions: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) =>
      readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && extensions.some((extension) => entry.name.endsWith(extension)))
        .map((entry) => path.relative(ROOT, path.join(entry.parentPath, entry.name)).replaceAll("\\", "/")),
    )
    .sort()
    .map(readSource);
}

/** One import or re-export. */
export interface Import {
  /** The specifier: a package, `node:…`, or a relative path. */
  readonly specifier: string;
  /** The path from the top folder, if it is a file of this repository. */
  readonly file: string | undefined;
  /** The imported names; `*` for a whole module. */
  readonly values: readonly string[];
}

const STATEMENT =
  /^(?:import|export)\s+(?:(type\s)?\s*([^;"']*?)\s*from\s+)?"([^"]+)"|\b(?:import|createRequire)\(\s*"([^"]+)"/gm;

/**
 * Finds a file's imports, re-exports and dynamic imports. A text search is enough, because the formatter fixes their
 * form. With `types`, the names include those of types.
 */
export function importsOf(
  { path: from, text }: SourceFile,
  { types = false }: { readonly types?: boolean } = {},
): Import[] {
  return [...text.matchAll(STATEMENT)].map(([, type, clause = "", fixed, dynamic]) => {
    const specifier = fixed ?? dynamic ?? "";
    const isOurs = specifier.startsWith(".");
    return {
      specifier,
      file: isOurs ? path.posix.normalize(path.posix.join(path.posix.dirname(from), specifier)) : undefined,
      values: type && !types ? [] : dynamic ? ["*"] : namesIn(clause, types),
    };
  });
}

function namesIn(clause: string, types: boolean): string[] {
  return clause
    .replace(/[{}]/g, "")
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "" && (types || !name.startsWith("type ")))
    .map((name) => name.replace(/^type /, "").replace(/ as .*$/, ""));
}
