/**
 * Tells whether npm has a newer Ika SDK than this project uses, and whether the project works with it:
 * `npm run check:ika [-- --sdk 0.5.0] [--wasm 0.3.0]`. A copy of the checkout gets the newest versions, or the given
 * ones, and there the types are checked and Ika's own code is compared with this project's. That takes some minutes and
 * needs a registry. Ends with 1 if the project does not work with them. Prereleases are named and not tried by
 * themselves.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { registryEnvironment } from "../test/support/environment.ts";
import { copySources } from "../test/support/repository/copy-checkout.ts";
import { ROOT } from "../test/support/repository/source-files.ts";
import { newerVersions } from "./check-ika/newer-versions.ts";

const PACKAGES = { sdk: "@ika.xyz/sdk", wasm: "@ika.xyz/ika-wasm" } as const;
/** What must pass: the SDK's types where this project names them, and each result of its code on fresh random input. */
const CHECKS = ["check:types", "test:reference"] as const;

const { values } = parseArgs({ options: { sdk: { type: "string" }, wasm: { type: "string" } } });
const { dependencies } = JSON.parse(readFileSync(path.join(ROOT, "package.json"), "utf8")) as {
  dependencies: Record<string, string>;
};
const tried: string[] = [];
for (const [option, name] of Object.entries(PACKAGES) as [keyof typeof PACKAGES, string][]) {
  const used = dependencies[name] as string;
  const { stable, prereleases } = newerVersions(used, published(name));
  const chosen = values[option] ?? stable.at(-1);
  const newer = stable.length === 0 ? "is the newest" : `has successors: ${stable.join(", ")}`;
  console.log(`${name} ${used} ${newer}`);
  if (prereleases.length > 0) console.log(`${name} has newer prereleases: ${prereleases.join(", ")}`);
  if (chosen !== undefined) tried.push(`${name}@${chosen}`);
}
if (tried.length > 0) {
  const failed = checksThatFail(tried);
  const wanted = tried.join(" and ");
  console.log(
    failed.length === 0
      ? `works with ${wanted}: npm install --save-exact ${tried.join(" ")}`
      : `does not work with ${wanted}: npm run ${failed.join(", npm run ")}`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** All versions of a package that its registry has. */
function published(name: string): string[] {
  const { status, stdout, stderr } = spawnSync("npm", ["view", name, "versions", "--json"], {
    env: registryEnvironment,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`the registry did not list the versions of ${name}:\n${stderr}`);
  // npm prints a single version without brackets.
  return [JSON.parse(stdout)].flat() as string[];
}

/** Installs packages in a copy of the checkout and runs the checks there. Returns those that fail. */
function checksThatFail(packages: readonly string[]): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), "check-ika-"));
  const npm = (...argv: string[]) =>
    spawnSync("npm", argv, { cwd: folder, env: registryEnvironment, stdio: "inherit" }).status === 0;
  try {
    copySources(folder);
    if (!npm("install", "--save-exact", "--no-audit", "--no-fund", ...packages)) return ["install"];
    return CHECKS.filter((check) => !npm("run", "--silent", check));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
