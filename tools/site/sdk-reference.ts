/** The SDK's reference: what the entries of the client's package export, from their doc comments. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const CLIENT = "threshold-signing-client";
/** Entries of the service's package that the client's package does not have. */
const SERVER_ENTRIES = ["./server", "./localnet"];

/**
 * Writes the pages with TypeDoc, of which the site has its own copy with its own TypeScript.
 * @param root the repository's top folder
 * @param site the site's folder, with its packages
 * @param folder where to write the pages
 */
export function writeSdkReference(root: string, site: string, folder: string): void {
  const entries = clientEntries(root);
  const scratch = mkdtempSync(path.join(tmpdir(), "typedoc-"));
  try {
    const options = path.join(scratch, "typedoc.json");
    const tsconfig = path.join(scratch, "tsconfig.json");
    const files = Object.values(entries);
    writeFileSync(
      tsconfig,
      JSON.stringify({
        extends: path.join(root, "tsconfig.json"),
        compilerOptions: { typeRoots: [path.join(root, "node_modules/@types")] },
        include: files,
      }),
    );
    const plugin = path.join(site, "node_modules/typedoc-plugin-markdown/dist/index.js");
    writeFileSync(
      options,
      JSON.stringify({ ...OPTIONS, tsconfig, entryPoints: files, plugin: [plugin], out: folder }),
    );
    const typedoc = path.join(site, "node_modules/typedoc/bin/typedoc");
    execFileSync(process.execPath, [typedoc, "--options", options], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    nameEntries(entryPages(root), folder);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The page of each entry of the client's package, from the folder of the reference, by the entry's name. */
export function entryPages(root: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(clientEntries(root)).map(([name, file]) => [name, `${moduleOf(root, file)}/index.md`]),
  );
}

/** Replaces the names of modules, which are places in this repository, by those of the package's entries. */
function nameEntries(pages: Readonly<Record<string, string>>, folder: string): void {
  for (const [name, page] of Object.entries(pages)) {
    const file = path.join(folder, page);
    writeFileSync(file, readFileSync(file, "utf8").replace(/^# .+$/m, `# ${name}`));
  }
  const list = Object.entries(pages).map(([name, page]) => `- [\`${name}\`](./${page})`);
  writeFileSync(path.join(folder, "index.md"), `${INTRODUCTION}\n\n${list.join("\n")}\n`);
}

const INTRODUCTION = `# SDK reference

What each entry of the package exports, from the comments in its source. [The guide](../../sdk.md) explains how the
parts fit together.`;

function moduleOf(root: string, file: string): string {
  return path.relative(path.join(root, "src/client"), file).replace(/(?:\/index)?\.ts$/, "");
}

/** The source of each entry of the client's package, by its name. */
function clientEntries(root: string): Record<string, string> {
  const { exports } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8")) as {
    exports: Record<string, string>;
  };
  return Object.fromEntries(
    Object.entries(exports)
      .filter(([entry, target]) => target.endsWith(".js") && !SERVER_ENTRIES.includes(entry))
      .map(([entry, target]) => [
        entry === "./sdk" ? CLIENT : CLIENT + entry.slice(1),
        path.join(root, target.replace("./dist/", "").replace(/\.js$/, ".ts")),
      ]),
  );
}

const TABLES = Object.fromEntries(
  [
    "parameters",
    "interfaceProperties",
    "classProperties",
    "propertyMembers",
    "typeAliasProperties",
    "enumMembers",
    "typeDeclaration",
    "index",
  ].map((name) => [`${name}Format`, "table"]),
);

const OPTIONS = {
  ...TABLES,
  logLevel: "Error",
  readme: "none",
  name: "SDK reference",
  disableSources: true,
  disableGit: true,
  excludeExternals: true,
  excludeInternal: true,
  excludeTags: ["@generated"],
  hideBreadcrumbs: true,
  hidePageHeader: true,
  entryFileName: "index",
  outputFileStrategy: "members",
  useCodeBlocks: true,
  tableColumnSettings: { hideModifiers: true, hideOverrides: true, hideInherited: true },
  pageTitleTemplates: { index: "SDK reference", module: "{name}", member: "{name}" },
};
