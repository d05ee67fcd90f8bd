import path from "node:path";
import { satisfies } from "semver";
import { describe, expect, it } from "vitest";
import { ANYTHING, MAY_IMPORT, mayImport, roomOf } from "./support/repository/import-table.ts";
import {
  asCode,
  exportedNames,
  linesWith,
  undocumentedExports,
  withoutComments,
  withoutReplacements,
} from "./support/repository/scan-source.ts";
import { importsOf, readSource, type SourceFile, sourcesBelow } from "./support/repository/source-files.ts";
import { tablesWrittenIn } from "./support/repository/written-tables.ts";

/** The modules that the packages export. */
const PACKAGE_ENTRIES = Object.values(
  (JSON.parse(readSource("package.json").text) as { exports: Record<string, string> }).exports,
)
  .filter((file) => file.endsWith(".js"))
  .map((file) => file.replace(/^\.\/dist\//, "").replace(/\.js$/, ".ts"));

/** Folders of `src` that also run in a browser. */
const BROWSER_FLOORS = ["protocol", "client", "console"];

/** A file has one subject. One with more lines than this has two. */
const TOO_LONG = 400;

/** Files that offer another file's function under its name, each with the reason. Every other name has one meaning. */
const REPEATING_FILES: Readonly<Record<string, string>> = {
  "src/client/sdk/addresses.ts": "wraps the functions of protocol, so that a bundler loads them on demand",
};

/** Files outside config and localnet that compare the name of a network, each with the reason. */
const COMPARING_NETWORKS: Readonly<Record<string, string>> = {
  "src/service/app/chain-access.ts": "narrows the type of an address",
  "src/cli/treasury/open-treasury-chain.ts": "finds the pins of a network, and no localnet has any",
  "src/cli/treasury/open-treasury.ts": "finds the pins of a network, and no localnet has any",
  "src/service/operator/health/doctor/doctor-chain.ts": "narrows the type of an address",
  "src/service/operator/health/doctor/network/network-view.ts":
    "narrows the type of an address, and finds the pins of a network",
  "src/client/sdk/chain/network.ts": "has the pins of the networks, and no localnet has any",
};
const NETWORK = '"(?:localnet|testnet|mainnet)"';
const NETWORK_COMPARED = new RegExp(
  `[!=]==?\\s*${NETWORK}|${NETWORK}\\s*[!=]==?|case ${NETWORK}|\\[[^\\]]*${NETWORK}[^\\]]*\\]\\.includes`,
);

/** Files of tests that use a timer, each with the reason. None of them waits for the outcome of a test. */
const TIMED_TESTS: Readonly<Record<string, string>> = {
  "test/component/localnet/localnet-process.ts": "is a process that lives until it is killed",
  "test/component/service/platform/store/pid-lock.test.ts": "starts a process that lives until it is killed",
  "test/component/transport/slow-readers.test.ts": "plays a client that sends slowly",
  "test/fuzz/run-case.ts": "bounds a case",
  "test/interop/drained-service.ts": "plays a handler that takes a while",
  "test/sim/sim-server.ts": "bounds the end of a stuck run",
  "test/sim/statements.ts": "decides when to ask the server for its locks",
  "test/soak/rest-client.ts": "is load of a soak, which runs for a time",
  "test/soak/soak-transport.ts": "is load of a soak, which runs for a time",
  "test/soak/soak.ts": "is load of a soak, which runs for a time",
  "test/soak/transport-process.ts": "is load of a soak, which runs for a time",
  "test/soak/transport-traffic.ts": "is load of a soak, which runs for a time",
  "test/fuzz/fuzz-target.ts": "plays handlers that take a while",
  "test/support/poll-until.ts": "is the helper",
};

/** Tests that open PostgreSQL, or may, without `openTestPool` and `openTestClient`, each with the reason. */
const POSTGRES_OPENERS: Readonly<Record<string, string>> = {
  "test/component/cli/audit.test.ts": "opens the embedded database",
  "test/race/database-lost.test.ts": "opens pools that get no connection",
  "test/race/start-on-database.test.ts": "counts the connections that the configuration allows",
  "test/support/database/recorded-statements.ts": "is the helper for a pool that records its statements",
  "test/support/database/test-pool.ts": "is the helper",
};

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
    expect(breaches).toEqual([]);
  });

  it("use every permission of the table, and have no import that the table puts above its room", () => {
    const used = new Set(
      source.flatMap((file) =>
        importsOf(file).map((imported) => `${roomOf(file.path)} ${roomOf(imported.file ?? "")}`),
      ),
    );
    const floors = [...MAY_IMPORT.keys()];
    const listed = [...MAY_IMPORT].flatMap(([room, allowed]) =>
      allowed === ANYTHING ? [] : allowed.map((name) => ({ room, name })),
    );
    const isGenerated = (name: string) => name.startsWith("gen/");
    expect(listed.length).toBeGreaterThan(0);
    expect(listed.filter(({ room, name }) => !used.has(`${room} ${name}`))).toEqual([]);
    expect(
      listed.filter(
        ({ room, name }) => !isGenerated(name) && !floors.slice(0, floors.indexOf(room)).includes(name),
      ),
    ).toEqual([]);
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

  it("ask for the traits of a network, and do not compare its name", () => {
    const comparing = source
      .filter((file) => !["service/config", "localnet"].includes(roomOf(file.path)))
      .filter((file) => NETWORK_COMPARED.test(withoutComments(file)));
    expect(comparing.map((file) => file.path).sort()).toEqual(Object.keys(COMPARING_NETWORKS).sort());
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

  it("read the environment in one file, and the tests, the build and the switch of a mutant in another each", () => {
    const readers = code.filter(
      (file) => file.path !== "test/tidy.test.ts" && /process\.env/.test(withoutComments(file)),
    );
    expect(readers.map((file) => file.path)).toEqual([
      "src/service/config/config.ts",
      "test/support/environment.ts",
      "tools/build.ts",
      "tools/mutate/rooms/in-test.ts",
    ]);
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

  it("export each name from one file, so that it has one meaning", () => {
    const places = new Map<string, Set<string>>();
    for (const file of source) {
      for (const name of exportedNames(file))
        places.set(name, (places.get(name) ?? new Set()).add(file.path));
    }
    const repeated = [...places].filter(([, files]) => files.size > 1);
    const repeating = repeated.flatMap(([, files]) => [...files].filter((file) => file in REPEATING_FILES));
    const others = repeated
      .map(([name, files]) => [name, ...[...files].filter((file) => !(file in REPEATING_FILES))])
      .filter(({ length }) => length > 2);
    expect(others).toEqual([]);
    expect([...new Set(repeating)].sort()).toEqual(Object.keys(REPEATING_FILES));
  });

  it("are files of a size that one can read", () => {
    const lengths = code.map((file) => [file.path, file.text.split("\n").length - 1] as const);
    expect(lengths.filter(([, lines]) => lines > TOO_LONG)).toEqual([]);
  });

  it("have names in kebab case", () => {
    const odd = code
      .map((file) => file.path)
      .filter((file) => !/^(?:[a-z0-9]+-?)+(?:\.test)?\.\w+$/.test(path.basename(file)));
    expect(odd).toEqual([]);
  });

  it("replace no module in the tests of unit and component, whose files share their modules", () => {
    const replacing = linesWith(code, /\bvi\.(?:mock|doMock|hoisted)\(/);
    expect(replacing.length).toBeGreaterThan(0);
    expect(replacing.filter((line) => /^test\/(?:unit|component)\//.test(line))).toEqual([]);
  });

  it("open PostgreSQL in tests through the helper that takes few connections", () => {
    const openers = code.filter(
      (file) =>
        file.path.startsWith("test/") &&
        file.path !== "test/tidy.test.ts" &&
        /\bopenPostgres\(|\bopenDatabase\(\{|new pg\.(?:Client|Pool)\(/.test(withoutComments(file)),
    );
    expect(openers.map((file) => file.path)).toEqual(Object.keys(POSTGRES_OPENERS).sort());
  });

  it("poll in tests with the one bounded helper alone", () => {
    const tests = code.filter((file) => file.path.startsWith("test/") && file.path !== "test/tidy.test.ts");
    const pollers = tests.filter((file) =>
      /\bvi\.wait(?:For|Until)\(|\bset(?:Timeout|Interval)\(|setTimeout as \w+/.test(withoutComments(file)),
    );
    expect(pollers.map((file) => file.path)).toEqual(Object.keys(TIMED_TESTS).sort());
  });

  it("leave nothing for later and switch no test off", () => {
    const others = code.filter((file) => file.path !== "test/tidy.test.ts");
    expect(linesWith(others, /\b(?:TODO|FIXME|XXX)\b|\b(?:it|test|describe)\.(?:only|skip|todo)\b/)).toEqual(
      [],
    );
  });
});

describe("the repository", () => {
  it("names no path of one machine", () => {
    const files = [...code, ...documents, ...["package.json", ".env.example", ".ci/run"].map(readSource)];
    expect(linesWith(files, /(?<![\w.}/])\/(?:home|root|Users|work)\//)).toEqual([]);
  });

  it("locks its packages without naming a registry", () => {
    expect(linesWith([readSource("package-lock.json")], /"resolved":/)).toEqual([]);
  });

  it("locks the native packages of every platform", () => {
    const { packages } = JSON.parse(readSource("package-lock.json").text) as Lock;
    const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
      Object.keys(optionalDependencies),
    );
    const locked = new Set(Object.keys(packages).map((place) => place.replace(/^.*node_modules\//, "")));
    // `npm run lock` adds what a registry did not have when the package was installed.
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
  });

  it("locks each package with a checksum, unless the archive of another package contains it", () => {
    const { packages } = JSON.parse(readSource("package-lock.json").text) as Lock;
    const { "": _root, ...installed } = packages;
    const unverified = Object.entries(installed).filter(
      ([, { integrity, inBundle }]) => inBundle !== true && !/^sha512-.{88}$/.test(integrity ?? ""),
    );
    // `npm run lock` asks the registry for missing checksums.
    expect(unverified.map(([place]) => place)).toEqual([]);
  });

  it("locks packages that accept each supported version of Node, and decides which may run a script", () => {
    const { packages } = JSON.parse(readSource("package-lock.json").text) as Lock;
    const { allowScripts } = JSON.parse(readSource("package.json").text) as Manifest;
    const refusing = Object.entries(packages).filter(([, { engines }]) =>
      SUPPORTED_NODE.some((version) => !satisfies(version, engines?.node ?? "*")),
    );
    expect(refusing.map(([place]) => place)).toEqual([]);
    const withScript = Object.entries(packages).filter(
      ([, { hasInstallScript }]) => hasInstallScript === true,
    );
    const names = withScript.map(([place]) => place.replace(/^.*node_modules\//, ""));
    expect(Object.keys(allowScripts)).toEqual([...new Set(names)].sort());
  });

  it("pins every package to one version", () => {
    const { dependencies, devDependencies } = JSON.parse(readSource("package.json").text) as Manifest;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^\d/.test(version),
    );
    expect(loose).toEqual([]);
  });

  it("has a script for every npm command that its documents name", () => {
    const { scripts } = JSON.parse(readSource("package.json").text) as Manifest;
    const named = documents.flatMap((file) => commandsIn(file).map((name) => ({ file: file.path, name })));
    const unknown = named.filter(
      ({ name }) => !["ci", "install"].includes(name) && scripts[name] === undefined,
    );
    expect(named.length).toBeGreaterThan(0);
    expect(unknown).toEqual([]);
  });

  it("gives an example of every variable of the configuration, and of no other", async () => {
    const { CONFIG_VARIABLES } = await import("../src/service/config/variables.ts");
    const named = [...readSource(".env.example").text.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)].map(
      ([, name]) => name,
    );
    expect(named).toEqual(CONFIG_VARIABLES.map(({ name }) => name));
  });
});

/** The npm commands in the code of a document, in fences and in line: `npm test` is `test`, `npm run demo` is `demo`. */
function commandsIn({ text }: SourceFile): string[] {
  const spans = text.match(/^```[\s\S]*?^```|`[^`]+`/gm) ?? [];
  return spans.flatMap((span) =>
    [...span.matchAll(/\bnpm (?:run )?([a-z][\w:-]*)/g)].map(([, name]) => name ?? ""),
  );
}

/** The oldest patch release of each supported version of Node. */
const SUPPORTED_NODE = ["20.19.0", "22.13.0", "24.0.0", "26.0.0"];

interface Lock {
  readonly packages: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  readonly integrity?: string;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Manifest {
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

const isEntry = (file: string): boolean => PACKAGE_ENTRIES.includes(file);

/** Files that interpolate the name of the table that they write, with the tables that it can be. */
const TABLES_BY_NAME: Readonly<Record<string, readonly string[]>> = {
  "src/service/access/stored-keys.ts": ["api_key", "admin_key"],
};
const INTERPOLATED_WRITE = /\b(?:INSERT INTO|UPDATE|DELETE FROM) \$\{/;
