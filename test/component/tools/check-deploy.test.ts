/** Each checker of the files that operators deploy accepts our files and refuses a planted fault. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { checkCollector } from "../../../tools/check-deploy/check-collector.ts";
import { checkCompose } from "../../../tools/check-deploy/check-compose.ts";
import { checkDockerfile } from "../../../tools/check-deploy/check-dockerfile.ts";
import { checkKubernetes } from "../../../tools/check-deploy/check-kubernetes.ts";
import { checkPrometheus } from "../../../tools/check-deploy/check-prometheus.ts";
import { checkSettings } from "../../../tools/check-deploy/check-settings.ts";
import { checkShell } from "../../../tools/check-deploy/check-shell.ts";
import { checkYaml } from "../../../tools/check-deploy/check-yaml.ts";
import { runProgram } from "../../interop/run-program.ts";
import { programMissing } from "../../support/environment.ts";
import { ROOT } from "../../support/repository/source-files.ts";

const top = mkdtempSync(path.join(tmpdir(), "tss-check-deploy-"));
afterAll(() => rmSync(top, { recursive: true }));

for (const part of ["deploy", "compose.yaml", "compose.dev.yaml", "Dockerfile"])
  cpSync(path.join(ROOT, part), path.join(top, part), { recursive: true });

interface Case {
  readonly file: string;
  /** The text in our file, and a mistake that replaces it. */
  readonly plant: readonly [from: string, to: string];
  readonly check: (file: string) => string[];
  /** The text that the reported fault must contain. */
  readonly names: RegExp;
}

const rules = path.join(top, "deploy/prometheus/alerts.yml");
const [base, mainnet] = ["base", "overlays/mainnet"].map((name) => path.join(top, "deploy/kubernetes", name));
const checkBase = () => checkKubernetes(base!);
const KUBERNETES = "deploy/kubernetes/base";

const cases: Readonly<Record<string, readonly Case[]>> = {
  unzip: [
    {
      file: `${KUBERNETES}/api.yaml`,
      plant: ["terminationGracePeriodSeconds: 45", "terminationGracePeriod: 45"],
      check: checkBase,
      names: /Deployment_tss_api.*\n?.*terminationGracePeriod/,
    },
    {
      file: `${KUBERNETES}/worker.yaml`,
      plant: ["replicas: 2", 'replicas: "two"'],
      check: checkBase,
      names: /Deployment_tss_worker[\s\S]*'string' is not assignable to type 'number'/,
    },
    {
      file: `${KUBERNETES}/autoscaling.yaml`,
      plant: ["apiVersion: autoscaling/v2", "apiVersion: autoscaling/v3"],
      check: checkBase,
      names: /no autoscaling\/v3 HorizontalPodAutoscaler/,
    },
    {
      file: `${KUBERNETES}/network-policies.yaml`,
      plant: ["policyTypes: [Ingress, Egress]", "policyTypes: Ingress"],
      check: checkBase,
      names: /NetworkPolicy_refuse_everything/,
    },
    {
      file: `${KUBERNETES}/kustomization.yaml`,
      plant: ["  - disruption.yaml\n", ""],
      check: checkBase,
      names: /disruption\.yaml: kustomization\.yaml does not name it/,
    },
    {
      file: "deploy/kubernetes/overlays/mainnet/kustomization.yaml",
      plant: ["/spec/minReplicas", "/spec/least/replicas"],
      check: () => checkKubernetes(mainnet!),
      names: /least/,
    },
  ],
  promtool: [
    {
      file: "deploy/prometheus/alerts.yml",
      plant: ["for: 2m", "for: 2 minutes"],
      check: (file) => checkPrometheus(path.join(top, "deploy/compose/prometheus.yml"), file),
      names: /not a valid duration/,
    },
    {
      file: "deploy/compose/prometheus.yml",
      plant: ["scrape_interval", "scrape_intervall"],
      check: (file) => checkPrometheus(file, rules),
      names: /scrape_intervall/,
    },
  ],
  yamllint: [
    {
      file: "compose.yaml",
      plant: ["  redis:\n", "  redis:\n    restart: always\n"],
      check: (file) => checkYaml([file]),
      names: /duplication of key "restart"/,
    },
  ],
  shellcheck: [
    {
      file: "deploy/compose/make-secrets.sh",
      plant: ["mkdir -p secrets", "mkdir -p $(pwd)/secrets"],
      check: (file) => checkShell([file]),
      names: /SC2046/,
    },
  ],
  node: [
    {
      file: "Dockerfile",
      plant: ["STOPSIGNAL SIGTERM", "STOPSIGNL SIGTERM"],
      check: checkDockerfile,
      names: /Dockerfile:\d+: .*STOPSIGNL/,
    },
    {
      file: "compose.yaml",
      plant: ["read_only: true", "readonly: true"],
      check: checkCompose,
      names: /services\/api-1.*additional properties.*readonly/,
    },
    {
      file: "compose.yaml",
      plant: ["prometheus:v3.5.0", "prometheus"],
      check: checkCompose,
      names: /prometheus: prometheus has an image without a version/,
    },
    {
      file: "compose.yaml",
      plant: ["./deploy/compose/otel-collector.yml", "./deploy/compose/otel.yml"],
      check: checkCompose,
      names: /otel\.yml is not there/,
    },
    {
      file: "compose.yaml",
      plant: ["secrets: [redis_password]", "secrets: [redis_pasword]"],
      check: checkCompose,
      names: /there is no secret redis_pasword/,
    },
    {
      file: "deploy/compose/otel-collector.yml",
      plant: ["exporters: [debug]", "exporters: [otlp]"],
      check: checkCollector,
      names: /otlp is not defined[\s\S]*debug is not used/,
    },
    {
      file: "deploy/grafana/service.json",
      plant: ['"panels"', '"pannels"'],
      check: (file) => checkSettings(file, "grafanaDashboard"),
      names: /required property 'panels'/,
    },
    {
      file: "deploy/grafana/provisioning/datasources/prometheus.yml",
      plant: ["url: http://", "url: "],
      check: (file) => checkSettings(file, "grafanaDatasources"),
      names: /url must match pattern/,
    },
    {
      file: "deploy/grafana/provisioning/dashboards/service.yml",
      plant: ["path: /var", "folder: /var"],
      check: (file) => checkSettings(file, "grafanaProviders"),
      names: /additional properties/,
    },
  ],
};

for (const [program, planted] of Object.entries(cases)) {
  const isThere = await isInstalled(program);
  if (!isThere) programMissing(program, "the checks of what operators deploy");
  describe.skipIf(!isThere)(`the checks that need ${program}`, () => {
    it.each(planted)("accept $file and refuse $plant.1", ({ file, plant: [from, to], check, names }) => {
      const copy = path.join(top, file);
      const text = readFileSync(copy, "utf8");
      expect(text).toContain(from);
      expect(check(copy)).toEqual([]);
      try {
        writeFileSync(copy, text.replace(from, to));
        expect(check(copy).join("\n")).toMatch(names);
      } finally {
        writeFileSync(copy, text);
      }
    });
  });
}

async function isInstalled(program: string): Promise<boolean> {
  const { code } = await runProgram("sh", ["-c", `command -v ${program}`]);
  return code === 0;
}
