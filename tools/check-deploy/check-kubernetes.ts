import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseAllDocuments } from "yaml";
import { kubectl } from "./kubectl.ts";

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

const ROOT = path.resolve(import.meta.dirname, "../..");
/** Third-party kinds, whose types no package has. The API server checks them. */
const FOREIGN = ["external-secrets.io/v1 ExternalSecret"];

/**
 * Returns the faults of one kustomize folder: kustomize's own errors, and fields, types and values that Kubernetes does
 * not have.
 */
export function checkKubernetes(folder: string): string[] {
  const orphans = notListed(folder);
  const { status, stdout, stderr } = spawnSync(kubectl(), ["kustomize", folder], { encoding: "utf8" });
  if (status !== 0) return [...orphans, `${folder}: ${stderr.trim()}`];
  const documents = parseAllDocuments(stdout);
  const manifests = documents.map((document) => document.toJS() as Manifest);
  return [...orphans, ...typeFaults(folder, manifests)];
}

/** Files of the folder that its list omits, so that nothing checks or applies them. */
function notListed(folder: string): string[] {
  const list = readFileSync(path.join(folder, "kustomization.yaml"), "utf8");
  return readdirSync(folder)
    .filter((name) => name !== "kustomization.yaml" && !list.includes(name))
    .map((name) => `${path.join(folder, name)}: kustomization.yaml does not name it`);
}

/** Writes each manifest as a typed literal and compiles it: the compiler knows every field. */
function typeFaults(folder: string, manifests: readonly Manifest[]): string[] {
  const work = mkdtempSync(path.join(ROOT, "node_modules/.cache/check-deploy-"));
  try {
    const lines: string[] = [];
    const faults: string[] = [];
    for (const [index, manifest] of manifests.entries()) {
      const { apiVersion, kind } = manifest;
      if (FOREIGN.includes(`${apiVersion} ${kind}`)) continue;
      const module = `kubernetes-models/${apiVersion}/${kind}`;
      if (!existsSync(path.join(ROOT, "node_modules", `${module}.d.ts`))) {
        faults.push(`${folder}: Kubernetes has no ${apiVersion} ${kind}`);
        continue;
      }
      lines.push(`import type { I${kind} as Kind${index} } from "${module}";`);
      lines.push(`export const ${variable(manifest)}_${index}: Kind${index} = ${JSON.stringify(manifest)};`);
    }
    const file = path.join(work, "manifests.ts");
    writeFileSync(file, lines.join("\n"));
    const settings = ["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022"];
    const modules = ["--module", "nodenext", "--moduleResolution", "nodenext", "--ignoreConfig"];
    const tsc = path.join(ROOT, "node_modules/.bin/tsc");
    const { status, stdout } = spawnSync(tsc, [...settings, ...modules, file], {
      encoding: "utf8",
      cwd: ROOT,
    });
    if (status === 0) return faults;
    const named = stdout.replaceAll(/^\S*manifests\.ts\((\d+),\d+\)/gm, (_, line: string) => {
      const [, name = ""] = /export const (\w+)/.exec(lines[Number(line) - 1] ?? "") ?? [];
      return `${folder}: ${name}`;
    });
    return [...faults, named.trim()];
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

const variable = ({ kind, metadata }: Manifest): string => `${kind}_${metadata.name}`.replaceAll(/\W/g, "_");
