import { satisfies } from "semver";
import { describe, expect, it } from "vitest";
import { SIGNER_VARIABLES } from "../../src/service/config/variables/signer-variables.ts";
import { CONFIG_VARIABLES } from "../../src/service/config/variables.ts";
import { readSource, type SourceFile, sourcesBelow } from "../support/repository/source-files.ts";

const documents = [
  ...["README.md", "AGENTS.md", "CONTRIBUTING.md"].map(readSource),
  ...sourcesBelow(["docs"], [".md"]),
];

describe("the packages", () => {
  describe.each(["", "site/"])("in its folder %o", (folder) => {
    const lock = readSource(`${folder}package-lock.json`);
    const { packages } = JSON.parse(lock.text) as Lock;
    const manifest = JSON.parse(readSource(`${folder}package.json`).text) as Manifest;

    it("locks its packages without naming a registry", () => {
      expect(lock.text).not.toContain('"resolved":');
    });

    it("locks the native packages of every platform", () => {
      const wanted = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
        Object.keys(optionalDependencies),
      );
      const locked = new Set(Object.keys(packages).map((place) => place.replace(/^.*node_modules\//, "")));
      // `npm run lock` adds what a registry did not have when the package was installed.
      expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
    });

    it("locks each package with a checksum, unless the archive of another package contains it", () => {
      const { "": _root, ...installed } = packages;
      const unverified = Object.entries(installed).filter(
        ([, { integrity, inBundle }]) => inBundle !== true && !/^sha512-.{88}$/.test(integrity ?? ""),
      );
      // `npm run lock` asks the registry for missing checksums.
      expect(unverified.map(([place]) => place)).toEqual([]);
    });

    it("locks packages that accept each supported version of Node, and decides which may run a script", () => {
      const refusing = Object.entries(packages).filter(([, { engines }]) =>
        SUPPORTED_NODE.some((version) => !satisfies(version, engines?.node ?? "*")),
      );
      expect(refusing.map(([place]) => place)).toEqual([]);
      const withScript = Object.entries(packages).filter(
        ([, { hasInstallScript }]) => hasInstallScript === true,
      );
      const names = withScript.map(([place]) => place.replace(/^.*node_modules\//, ""));
      expect(Object.keys(manifest.allowScripts)).toEqual([...new Set(names)].sort());
    });

    it("pins every package to one version", () => {
      const { dependencies, devDependencies = {} } = manifest;
      const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
        ([, version]) => !/^\d/.test(version),
      );
      expect(loose).toEqual([]);
    });
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

  it.each([
    [".env.example", CONFIG_VARIABLES],
    ["signer.env.example", SIGNER_VARIABLES],
  ])("gives an example of every variable in %s, and of no other", (file, variables) => {
    const named = [...readSource(file).text.matchAll(/^#? ?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name);
    expect(named).toEqual(variables.map(({ name }) => name));
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
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}
