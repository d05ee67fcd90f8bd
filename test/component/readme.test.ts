import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, it } from "vitest";
import { packagePaths } from "../support/repository/package-paths.ts";
import { ROOT, readSource, sourcesBelow } from "../support/repository/source-files.ts";

const GUIDES = ["sdk", "recovery", "imported-keys", "webhooks", "identity-providers"];
const DOCUMENTS = [
  ...["README.md", ...GUIDES.map((name) => `docs/${name}.md`)].map(readSource),
  ...sourcesBelow(["docs/start"], [".md"]),
];
const folder = mkdtempSync(path.join(tmpdir(), "readme-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("the README, the guides, the quick starts and the examples", () => {
  it("contain TypeScript that compiles against the package's entries", async () => {
    const snippets = DOCUMENTS.flatMap((document) =>
      // A snippet in a list is indented.
      [...document.text.matchAll(/^ *```(tsx?)\n([\s\S]*?)^ *```$/gm)].map(([, language, snippet]) => ({
        language,
        // The project's own pages are made with another library.
        pragma: language === "tsx" ? "/** @jsxImportSource react */\n" : "",
        snippet,
      })),
    );
    expect(snippets.length).toBeGreaterThan(DOCUMENTS.length);
    snippets.forEach(({ language, pragma, snippet }, index) => {
      // `export {}` makes a snippet without exports a module.
      writeFileSync(path.join(folder, `snippet-${index}.${language}`), `${pragma}${snippet}export {};\n`);
    });
    // The example programs import the package as its users do.
    cpSync(path.join(ROOT, "examples"), path.join(folder, "examples"), { recursive: true });
    symlinkSync(path.join(ROOT, "node_modules"), path.join(folder, "node_modules"));
    writeFileSync(path.join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(path.join(folder, "tsconfig.json"), JSON.stringify(compilerConfig()));
    const compiled = await promisify(execFile)(path.join(ROOT, "node_modules/.bin/tsc"), [
      "-p",
      folder,
    ]).catch((error: { stdout: string }) => error);
    expect(compiled.stdout).toBe("");
  });
});

/** The project's own strictness, with the package's name resolved to its sources. */
function compilerConfig(): object {
  return {
    extends: path.join(ROOT, "tsconfig.json"),
    compilerOptions: { paths: packagePaths() },
    include: ["*.ts", "*.tsx", "examples/*/*.ts", "examples/*/*.tsx"],
  };
}
