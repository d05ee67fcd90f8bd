import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { packagePaths } from "./package-paths.ts";
import { ROOT, readSource } from "./source-files.ts";

/** The values that replace URLs and keys in the document. */
export type Substitutes = Readonly<Record<string, string>>;

/**
 * Returns the exports, by name, of the TypeScript examples in one section of a document. The examples import the
 * sources unchanged.
 */
export async function guideExamples(
  document: string,
  section: string,
  substitutes: Substitutes = {},
): Promise<Record<string, unknown>> {
  const [, text = ""] =
    new RegExp(`^## ${section}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, "m").exec(readSource(document).text) ??
    [];
  const examples = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, example = ""]) => example);
  const folder = mkdtempSync(path.join(tmpdir(), "guide-"));
  try {
    symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
    const exported = {};
    for (const [index, example] of examples.entries()) {
      const file = path.join(folder, `example-${index}.ts`);
      const missing = Object.keys(substitutes).filter((written) => !example.includes(written));
      if (missing.length > 0) throw new Error(`the example does not have ${missing.join(", ")}`);
      const text = Object.entries(substitutes).reduce(
        (text, [from, to]) => text.replaceAll(from, to),
        example,
      );
      writeFileSync(file, withSources(text));
      Object.assign(exported, await import(/* @vite-ignore */ file));
    }
    return exported;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function withSources(example: string): string {
  const paths = packagePaths();
  return example.replaceAll(
    /from "(threshold-signing-(?:service|client)[\w/-]*)"/g,
    (whole, name: string) => {
      const [source] = paths[name] ?? [];
      return source === undefined ? whole : `from "${source}"`;
    },
  );
}
