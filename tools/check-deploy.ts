/**
 * `npm run check:deploy`: checks every file that operators deploy, each with the strictest checker that npm or Debian
 * has. Exit code 1, with every fault, if one of them is wrong.
 */
import { readdirSync } from "node:fs";
import path from "node:path";
import { checkCollector } from "./check-deploy/check-collector.ts";
import { checkCompose } from "./check-deploy/check-compose.ts";
import { checkDockerfile } from "./check-deploy/check-dockerfile.ts";
import { checkKubernetes } from "./check-deploy/check-kubernetes.ts";
import { checkPrometheus } from "./check-deploy/check-prometheus.ts";
import { checkSettings } from "./check-deploy/check-settings.ts";
import { checkShell } from "./check-deploy/check-shell.ts";
import { checkYaml } from "./check-deploy/check-yaml.ts";

process.chdir(path.resolve(import.meta.dirname, ".."));

const ALERTS = "deploy/prometheus/alerts.yml";
const below = (folder: string, ...endings: readonly string[]): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => endings.some((ending) => name.endsWith(ending)))
    .map((name) => path.join(folder, name))
    .sort();
const [compose, provisioning, overlays] = [
  ["compose.yaml", "compose.dev.yaml", "compose.two-networks.yaml", "compose.signer.yaml"],
  "deploy/grafana/provisioning",
  "deploy/kubernetes/overlays",
];

const faults = [
  ...checkDockerfile("Dockerfile"),
  ...checkYaml([...compose, ...below("deploy", ".yml", ".yaml")]),
  ...checkShell([".ci/run", ...below("deploy", ".sh")]),
  ...compose.flatMap(checkCompose),
  ...checkCollector("deploy/compose/otel-collector.yml"),
  ...["deploy/prometheus", "deploy/compose"].flatMap((folder) =>
    checkPrometheus(path.join(folder, "prometheus.yml"), ALERTS),
  ),
  ...below("deploy/grafana", ".json").flatMap((file) => checkSettings(file, "grafanaDashboard")),
  ...below(path.join(provisioning, "datasources"), ".yml").flatMap((file) =>
    checkSettings(file, "grafanaDatasources"),
  ),
  ...below(path.join(provisioning, "dashboards"), ".yml").flatMap((file) =>
    checkSettings(file, "grafanaProviders"),
  ),
  ...[
    "deploy/kubernetes/base",
    ...[overlays, "deploy/kubernetes/signer"].flatMap((folder) =>
      readdirSync(folder).map((name) => path.join(folder, name)),
    ),
  ].flatMap(checkKubernetes),
];
for (const fault of faults) console.error(fault);
console.log(faults.length === 0 ? "every file to deploy with is in order" : `${faults.length} faults`);
process.exitCode = faults.length === 0 ? 0 : 1;
