/**
 * Builds the documents as a site into `site/dist`. The first run installs the packages of `site/`, which the project
 * itself does not need.
 *
 * - `--serve` serves the pages instead, and renders them again when a document changes.
 * - `--pages` only writes the pages.
 * - `--source URL` makes links to files of the repository, below this URL.
 * - `--base PATH` is the path of the site on its host, such as `/docs/`.
 */
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { documentPages, writeDocumentPages } from "./site/document-pages.ts";
import { grpcReference, type Page } from "./site/grpc-reference.ts";
import type { OpenApi } from "./site/open-api.ts";
import { restReference } from "./site/rest-reference.ts";
import { entryPages, writeSdkReference } from "./site/sdk-reference.ts";
import { sidebarOf } from "./site/sidebar.ts";

const ROOT = path.resolve(import.meta.dirname, "..");
const SITE = path.join(ROOT, "site");
const PAGES = path.join(SITE, "pages");
/** Files of the site that are no documents, and their sources. */
const OWN_FILES = { "index.md": "site/index.md", "public/favicon.svg": "src/console/favicon.svg" };
const { values: options } = parseArgs({
  options: {
    serve: { type: "boolean", default: false },
    pages: { type: "boolean", default: false },
    source: { type: "string" },
    base: { type: "string", default: "/" },
  },
});

installPackages();
rmSync(PAGES, { recursive: true, force: true });
writePages();
if (!options.pages) runVitePress();

/** Installs the site's packages, if they are not those of its lock file. */
function installPackages(): void {
  const wanted = readFileSync(path.join(SITE, "package-lock.json"), "utf8");
  const mark = path.join(SITE, "node_modules/.installed-lock.json");
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return;
  execFileSync("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: SITE, stdio: "inherit" });
  writeFileSync(mark, wanted);
}

function writePages(): void {
  writeDocumentPages(ROOT, PAGES, options.source);
  for (const [file, source] of Object.entries(OWN_FILES))
    writePage(file, readFileSync(path.join(ROOT, source), "utf8"));
  writeSdkReference(ROOT, SITE, path.join(PAGES, "reference/sdk"));
  const buf = path.join(ROOT, "node_modules/.bin/buf");
  const image = execFileSync(buf, ["build", "proto", "-o", "-#format=binpb"], {
    cwd: ROOT,
    maxBuffer: 2 ** 26,
  });
  const openApi = JSON.parse(readFileSync(path.join(ROOT, "gen/openapi.json"), "utf8")) as OpenApi;
  const pages = [...grpcReference(image), ...restReference(openApi)];
  for (const [file, text] of pages) writePage(`reference/${file}`, `${text}\n`);
  writePage("sidebar.json", JSON.stringify(sidebar(pages)));
}

function writePage(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(PAGES, file)), { recursive: true });
  writeFileSync(path.join(PAGES, file), text);
}

/** The documents by reader, and the references. */
function sidebar(references: readonly Page[]): object[] {
  const pages = documentPages(ROOT);
  const titleOf = (file: string) =>
    /^# (.+)$/m.exec(readFileSync(path.join(ROOT, file), "utf8"))?.[1] ?? file;
  const list = readFileSync(path.join(ROOT, "docs/README.md"), "utf8");
  const groupOf = (kind: string, text: string) => ({
    text,
    link: `/reference/${kind}.md`,
    collapsed: true,
    items: references
      .filter(([file]) => file.startsWith(`${kind}/`))
      .map(([file, page]) => ({ text: /^# (\S+)/m.exec(page)?.[1] ?? file, link: `/reference/${file}` })),
  });
  const entries = Object.entries(entryPages(ROOT)).map(([name, page]) => ({
    text: name.replace(/^.*(?=\/)/, ""),
    link: `/reference/sdk/${page}`,
  }));
  return [
    ...sidebarOf(list, (document) => pages.get(document) ?? "", titleOf),
    {
      text: "Reference",
      collapsed: true,
      items: [
        groupOf("rest", "REST"),
        groupOf("grpc", "gRPC"),
        { text: "SDK", link: "/reference/sdk/index.md", collapsed: true, items: entries },
      ],
    },
  ];
}

function runVitePress(): void {
  const vitepress = path.join(SITE, "node_modules/vitepress/bin/vitepress.js");
  const program = [vitepress, options.serve ? "dev" : "build", SITE, "--base", options.base];
  if (!options.serve) {
    execFileSync(process.execPath, program, { cwd: SITE, stdio: "inherit" });
    return;
  }
  watch(path.join(ROOT, "docs"), { recursive: true }, () => writeDocumentPages(ROOT, PAGES, options.source));
  const server = spawn(process.execPath, program, { cwd: SITE, stdio: "inherit" });
  server.on("exit", (code) => process.exit(code ?? 1));
}
