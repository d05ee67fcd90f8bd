/** The documents of the repository as pages. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { withPageLinks } from "./page-links.ts";

/** Documents outside `docs/` that have a page, and the folders that a page of the reference describes. */
const OTHER_PAGES: Readonly<Record<string, string>> = {
  "README.md": "overview.md",
  "docs/README.md": "documents.md",
  "CONTRIBUTING.md": "contributing.md",
  "AGENTS.md": "working-here.md",
  "SECURITY.md": "security.md",
  "CODE_OF_CONDUCT.md": "code-of-conduct.md",
  "bench/README.md": "benchmarks.md",
  "move/treasury/README.md": "treasury-package.md",
  "proto/tss/v1": "reference/grpc.md",
};

/** The folders whose documents all have pages, and where. */
const PAGE_FOLDERS: Readonly<Record<string, string>> = { docs: "", examples: "examples" };

/**
 * Returns the page of each document, both from their top folders. Images are pages too.
 * @param root the repository's top folder
 */
export function documentPages(root: string): Map<string, string> {
  const below = Object.entries(PAGE_FOLDERS).flatMap(([folder, place]) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((file) => /\.(?:md|svg|png)$/.test(file))
      .map((file): [string, string] => [
        path.posix.join(folder, file),
        path.posix.join(place, file).replace(/\/README\.md$/, ".md"),
      ]),
  );
  return new Map([...below, ...Object.entries(OTHER_PAGES)]);
}

/**
 * Writes the page of each document.
 * @param folder where to write them
 * @param sourceUrl see `PageMap`
 */
export function writeDocumentPages(root: string, folder: string, sourceUrl: string | undefined): void {
  const pages = documentPages(root);
  const isInRepository = (file: string) => existsSync(path.join(root, file));
  for (const [file, page] of pages) {
    const target = path.join(folder, page);
    mkdirSync(path.dirname(target), { recursive: true });
    if (page.endsWith(".md") && file.endsWith(".md")) {
      const text = readFileSync(path.join(root, file), "utf8");
      // A generated document begins with a comment.
      const shown = text.replace(/^<!--[\s\S]*?-->\n+/, "");
      writeFileSync(target, withPageLinks(shown, file, { pages, isInRepository, sourceUrl }));
    } else if (!page.endsWith(".md")) {
      cpSync(path.join(root, file), target);
    }
  }
}
