/**
 * `node --import tsx tools/sbom.ts INSTALLED`: prints the bill of materials of the installed packages, in CycloneDX's
 * JSON. INSTALLED is the lock file that npm leaves in their `node_modules`. The bill is npm's own, reduced to those
 * packages: npm's `--omit` also omits needed packages that another package wants optionally. It has no serial number
 * and no time, so that the same lock file always makes the same text.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";

interface Bill {
  serialNumber?: string;
  metadata: { timestamp?: string; component: { readonly "bom-ref": string } };
  components: readonly {
    readonly "bom-ref": string;
    readonly group?: string;
    readonly name: string;
    readonly version: string;
  }[];
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

const lock = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
};
const installed = new Set(
  Object.entries(lock.packages).map(
    ([place, { version }]) => `${place.replace(/^.*node_modules\//, "")}@${version}`,
  ),
);
const { status, stdout } = spawnSync("npm", ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"], {
  cwd: path.resolve(import.meta.dirname, ".."),
  encoding: "utf8" as const,
  maxBuffer: 64e6,
  stdio: ["ignore", "pipe", "inherit"],
});
if (status !== 0) {
  process.stderr.write(stdout);
  process.exit(1);
}
const bill = JSON.parse(stdout) as Bill;
const components = bill.components.filter(({ group, name, version }) =>
  installed.has(`${group ? `${group}/` : ""}${name}@${version}`),
);
const kept = new Set([bill.metadata.component["bom-ref"], ...components.map((each) => each["bom-ref"])]);
const dependencies = bill.dependencies
  .filter(({ ref }) => kept.has(ref))
  .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) }));
delete bill.serialNumber;
delete bill.metadata.timestamp;
console.log(JSON.stringify({ ...bill, components, dependencies }, undefined, 2));
