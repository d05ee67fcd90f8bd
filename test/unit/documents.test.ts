import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT, readSource, sourcesBelow } from "../support/repository/source-files.ts";

const documents = [
  ...[
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CODE_OF_CONDUCT.md",
    "CHANGELOG.md",
    "AGENTS.md",
    "move/treasury/README.md",
    "bench/README.md",
  ].map(readSource),
  ...sourcesBelow(["docs"], [".md"]),
];

it("documents link to existing files and headings", () => {
  const links = documents.flatMap((document) =>
    [...document.text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = ""]) => ({
      from: document.path,
      link,
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter(({ from, link }) => !isThere(from, link))).toEqual([]);
});

function isThere(from: string, link: string): boolean {
  const [target = "", heading] = link.split("#");
  const file = target === "" ? from : path.posix.join(path.posix.dirname(from), target);
  if (!existsSync(path.join(ROOT, file))) return false;
  return heading === undefined || headingsOf(file).has(heading);
}

/** As GitHub names them in links. */
function headingsOf(file: string): Set<string> {
  const headings = readSource(file).text.matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, "")
        .replaceAll(" ", "-"),
    ),
  );
}
