import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { ANYTHING, MAY_IMPORT, mayImport, roomOf } from "./support/repository/import-table.ts";
import {
  asCode,
  linesWith,
  undocumentedExports,
  withoutComments,
  withoutReplacements,
} from "./support/repository/scan-source.ts";
import { importsOf, ROOT, readSource, sourcesBelow } from "./support/repository/source-files.ts";
import { tablesWrittenIn } from "./support/repository/written-tables.ts";

/** The modules that the packages export. */
const PACKAGE_ENTRIES = Object.values(
  (JSON.parse(readSource("package.json").text) as { exports: Record<string, string> }).exports,
)
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts"));

/** Folders of `src` that also run in a browser. */
const BROWSER_FLOORS = ["protocol", "client", "console"];

const source = sourcesBelow(["src"], [".ts", ".tsx"]);
const code = [...source, ...sourcesBelow(["test", "tools", "bench"], [".ts", ".mjs"])];
const documents = [
  ...["README.md", "AGENTS.md", "CONTRIBUTING.md"].map(readSource),
  ...sourcesBelow(["docs"], [".md"]),
];

describe("the sources", () => {
  it("import only what the table of the architecture allows", () => {
    const breaches = source.flatMap((file) =>
      importsOf(file)
        .filter((imported) => imported.file !== undefined && !mayImport(file.path, imported.file))
        .map((imported) => `${file.path} imports ${imported.file}`),
    );
    expect(source.filter((file) => roomOf(file.path) === "").map((file) => file.path)).toEqual([]);
    expect(breaches).toEqual([]);
  });

  it("find in the table only rooms above their own", () => {
    const rooms = [...MAY_IMPORT.keys()];
    const listed = [...MAY_IMPORT].flatMap(([room, allowed]) =>
      allowed === ANYTHING ? [] : allowed.map((name) => ({ room, name })),
    );
    expect(listed.length).toBeGreaterThan(0);
    const above = (room: string, name: string) => rooms.slice(0, rooms.indexOf(room)).includes(name);
    expect(listed.filter(({ room, name }) => !name.startsWith("gen/") && !above(room, name))).toEqual([]);
  });

  it("have a README in each room", () => {
    const rooms = [...MAY_IMPORT.keys()].filter((room) => room !== "tests");
    expect(rooms.filter((room) => !existsSync(path.join(ROOT, "src", room, "README.md")))).toEqual([]);
  });

  it("write each table in one room, and a project's money in the ledger", () => {
    const writers = new Map<string, Set<string>>();
    for (const file of source) {
      for (const name of [...tablesWrittenIn(withoutComments(file)), ...(TABLES_BY_NAME[file.path] ?? [])])
        writers.set(name, new Set([...(writers.get(name) ?? []), roomOf(file.path)]));
    }
    const shared = [...writers]
      .filter(([, rooms]) => rooms.size > 1)
      .map(([table, rooms]) => [table, ...rooms]);
    expect(shared).toEqual([]);
    expect(writers.get("money of project")).toEqual(new Set(["service/ledger"]));
    expect(writers.get("presign")).toEqual(new Set(["service/presigns"]));
    expect(writers.get("chain_operation")).toEqual(new Set(["service/chain"]));
    const interpolating = source.filter((file) => INTERPOLATED_WRITE.test(withoutComments(file)));
    expect(interpolating.map((file) => file.path)).toEqual(Object.keys(TABLES_BY_NAME));
  });

  it("write SQL with the tag that numbers its values, and run it through the store", () => {
    const others = source
      .filter((file) => !file.path.startsWith("src/service/platform/store/"))
      .map((file) => ({ path: file.path, text: withoutReplacements(withoutComments(file)) }));
    expect(linesWith(others, /\$[1-9]/)).toEqual([]);
    const runners = others.filter(({ text }) => /\.query\s*[<(]/.test(text)).map((file) => file.path);
    expect(runners).toEqual(["src/service/operator/health/doctor/doctor.ts"]);
  });

  it("take the time from a Clock in the rooms that a simulation runs", () => {
    const timed = source.filter(
      (file) =>
        ["chain", "presigns", "signing", "billing"].some((room) => roomOf(file.path) === `service/${room}`) &&
        /\bDate\.now\b|\bnew Date\(\)|\bperformance\.now\b|\bset(?:Timeout|Interval)\b|\bAbortSignal\.timeout\b/.test(
          withoutComments(file),
        ),
    );
    expect(timed.map((file) => file.path)).toEqual([]);
  });

  it("keep what a browser runs free of Node", () => {
    const browser = source.filter((file) => BROWSER_FLOORS.includes(file.path.split("/")[1] ?? ""));
    const imports = browser.flatMap((file) =>
      importsOf(file)
        .filter(({ specifier }) => specifier.startsWith("node:"))
        .map(({ specifier }) => `${file.path}: ${specifier}`),
    );
    expect(imports).toEqual([]);
    expect(linesWith(browser.map(asCode), /(?<![.\w])(?:Buffer|process)\./)).toEqual([]);
    const askers = browser.filter((file) =>
      /globalThis\.process|getBuiltinModule/.test(withoutComments(file)),
    );
    expect(askers.map((file) => file.path)).toEqual(["src/client/crypto/engines/engine-thread.ts"]);
  });

  it("explain every symbol that another room imports, or that a package exports", () => {
    const imported = new Set(
      source.flatMap((file) =>
        importsOf(file, { types: true })
          .filter(({ file: from }) => from !== undefined)
          .filter(({ file: from = "" }) => isEntry(file.path) || roomOf(from) !== roomOf(file.path))
          .flatMap(({ file: from, values }) => values.map((name) => `${from}: ${name}`)),
      ),
    );
    const silent = source.flatMap((file) =>
      undocumentedExports(file).filter((symbol) => imported.has(symbol) || isEntry(file.path)),
    );
    expect(imported.size).toBeGreaterThan(0);
    expect(silent).toEqual([]);
  });

  it("replace no module in the tests of unit and component, whose files share their modules", () => {
    const replacing = linesWith(code, /\bvi\.(?:mock|doMock|hoisted)\(/);
    expect(replacing.length).toBeGreaterThan(0);
    expect(replacing.filter((line) => /^test\/(?:unit|component)\//.test(line))).toEqual([]);
  });

  it("names no path of one machine", () => {
    const files = [...code, ...documents, ...["package.json", ".env.example", ".ci/run"].map(readSource)];
    expect(linesWith(files, /(?<![\w.}/])\/(?:home|root|Users|work)\//)).toEqual([]);
  });

  it("leave nothing for later and switch no test off", () => {
    const others = code.filter((file) => file.path !== "test/tidy.test.ts");
    expect(linesWith(others, /\b(?:TODO|FIXME|XXX)\b|\b(?:it|test|describe)\.(?:only|skip|todo)\b/)).toEqual(
      [],
    );
  });
});

const isEntry = (file: string): boolean => PACKAGE_ENTRIES.includes(file);

/** Files that interpolate the name of the table that they write, with the tables that it can be. */
const TABLES_BY_NAME: Readonly<Record<string, readonly string[]>> = {
  "src/service/access/keys/stored-keys.ts": ["api_key", "admin_key"],
};
const INTERPOLATED_WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM) \$\{/;
