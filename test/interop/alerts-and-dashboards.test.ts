/** Compares the files for Prometheus and Grafana with the metrics that the service exports. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { programMissing } from "../support/environment.ts";
import { ROOT, readSource, sourcesBelow } from "../support/repository/source-files.ts";
import { type AppInProcess, startAppInProcess } from "../support/service/app-in-process.ts";
import { runProgram } from "./run-program.ts";

const ALERTS = "deploy/prometheus/alerts.yml";
const CASES = "deploy/prometheus/alerts.test.yml";
const alerts = readSource(ALERTS).text;
const alertNames = [...alerts.matchAll(/^ +- alert: (\w+)$/gm)].map(([, name]) => name ?? "");
const { groups } = parse(alerts) as {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
};
const rules = groups.flatMap((group) => group.rules);
/** The alerts about what the networks share: processes, the ledger and the audit trail. A pool's name tells its network. */
const SHARED = [
  ...["ServiceDown", "ReplicaDown", "ReplicaNotReady", "EventLoopBlocked", "DatabasePoolExhausted"],
  ...["LedgerMismatch", "LedgerNotVerified", "WebhooksStalled", "AuditUnsealed"],
];
const cases = (parse(readSource(CASES).text) as { readonly tests: readonly AlertCase[] }).tests;
const dashboards = sourcesBelow(["deploy/grafana"], [".json"]);
const promtool = await findPromtool();
const folder = mkdtempSync(path.join(tmpdir(), "promtool-"));
let app: AppInProcess | undefined;
let served: string;
/** Allows for the creation of the embedded database. */
const START_TIMEOUT_MS = 180_000;

beforeAll(async () => {
  app = await startAppInProcess({ METRICS_PUBLIC: "true" });
  await fetch(`${app.url}/v1/network`);
  served = await (await fetch(`${app.url}/metrics`)).text();
}, START_TIMEOUT_MS);
afterAll(async () => {
  await app?.stop();
  rmSync(folder, { recursive: true });
});

describe("the alerts", () => {
  it("name only metrics that the service exports", () => {
    expect(namesNotServed(alerts)).toEqual([]);
  });

  it("each link to their own entry in the runbook, which has no other entries", () => {
    const headings = [...readSource("docs/runbook.md").text.matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
    expect(headings.toSorted()).toEqual(alertNames.toSorted());
    const pointers = [...alerts.matchAll(/runbook_url: docs\/runbook\.md#(\w+)$/gm)].map(([, name]) => name);
    expect(pointers).toEqual(alertNames.map((name) => name.toLowerCase()));
  });

  it("each have cases in which they fire and one in which they do not", () => {
    const cases = readSource(CASES).text.split(/^ {2}- name: /m);
    const casesOf = (name: string, isFiring: boolean) =>
      cases.filter(
        (one) => one.includes(`alertname: ${name}\n`) && one.includes("exp_alerts: []") !== isFiring,
      ).length;
    const counts = alertNames.map((name) => [name, casesOf(name, true) > 0, casesOf(name, false)]);
    expect(counts).toEqual(alertNames.map((name) => [name, true, 1]));
  });

  it("are about one network each, unless the networks share what they are about", () => {
    const isByNetwork = ({ alert, expr }: AlertRule) =>
      / by \(network\b/.test(expr) && "network" in firingCaseOf(alert).exp_labels;
    const shared = rules.filter((rule) => !isByNetwork(rule)).map(({ alert }) => alert);
    expect(shared).toEqual(SHARED);
  });

  it("name the network if they are about one", () => {
    const ofNetworks = rules.filter(({ expr }) => isAboutNetwork(expr));
    expect(ofNetworks.length).toBeGreaterThan(10);
    for (const { alert, annotations } of ofNetworks) {
      expect(annotations.summary).toContain("{{ $labels.network }}");
      expect(firingCaseOf(alert).exp_labels, alert).toHaveProperty("network");
    }
  });

  it("have the severity page or ticket", () => {
    const severities = [...alerts.matchAll(/severity: (\w+)$/gm)].map(([, severity]) => severity);
    expect(severities).toHaveLength(alertNames.length);
    expect(new Set(severities)).toEqual(new Set(["page", "ticket"]));
  });
});

describe.each(dashboards)("the dashboard $path", ({ text }) => {
  const board = JSON.parse(text) as Dashboard;

  it("shows only metrics that the service exports", () => {
    expect(namesNotServed(expressionsOf(board).join("\n"))).toEqual([]);
  });

  it("names the network in each panel about one: the chosen network, or each network by its name", () => {
    const panels = board.panels.filter(({ targets = [] }) =>
      targets.some(({ expr }) => isAboutNetwork(expr)),
    );
    expect(panels.length).toBeGreaterThan(5);
    for (const { title = "", targets = [] } of panels.filter((panel) => !isOfChosen(panel))) {
      expect(title).toMatch(/, by network$/);
      for (const { expr, legendFormat } of targets) {
        expect(expr).toMatch(/ by \(network(?:, le)?\) /);
        expect(legendFormat).toContain("{{network}}");
      }
    }
    // Calls that belong to no network are shown beside those of the chosen one.
    for (const { title = "", targets = [] } of panels.filter(isOfChosen))
      for (const { expr } of targets.filter((target) => isAboutNetwork(target.expr)))
        expect(expr, title).toMatch(/\{network=(?:~"\$network"|""),/);
  });

  it("tells the pools of database connections apart", () => {
    const targets = board.panels
      .flatMap((panel) => panel.targets ?? [])
      .filter(({ expr }) => expr.includes("service_database_connections"));
    for (const { expr, legendFormat } of targets) {
      expect(expr).toContain(" by (pool, state) ");
      expect(legendFormat).toContain("{{pool}}");
    }
  });

  it("can be imported by Grafana, with a selectable data source and panels with ids and units that do not overlap", () => {
    expect(board.schemaVersion).toBeGreaterThanOrEqual(36);
    expect(board.templating.list[0]).toMatchObject({ type: "datasource", query: "prometheus" });
    const ids = board.panels.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const panel of board.panels.filter(({ type }) => type !== "row")) {
      expect(panel.datasource?.uid).toMatch(/^\$\{datasource\}$/);
      expect(panel.fieldConfig?.defaults.unit).toMatch(/\w/);
    }
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)}/${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...board.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});

describe.skipIf(promtool === undefined)("promtool", () => {
  it("accepts the metrics that the service exports", async () => {
    expect(await check(["check", "metrics"], served)).toBe("");
  });

  it("accepts the rules and the example configuration", async () => {
    await check(["check", "rules", "--lint=all", "--lint-fatal", path.join(ROOT, ALERTS)]);
    await check(["check", "config", "--syntax-only", path.join(ROOT, "deploy/prometheus/prometheus.yml")]);
  });

  it("confirms that each alert fires when it should, and only then", async () => {
    await check(["test", "rules", path.join(ROOT, CASES)]);
  });

  it("confirms that each alert about a network fires for the failing one while another one is healthy", async () => {
    const tests = cases.filter(isFiringForNetwork).map((ill) => {
      const [{ alertname, exp_alerts }] = ill.alert_rule_test;
      const well = cases.find(
        ({ alert_rule_test: [other] }) => other.alertname === alertname && other.exp_alerts.length === 0,
      )!;
      const isTestnetIll = exp_alerts.every(({ exp_labels }) => exp_labels["network"] === "testnet");
      const other = `network="${isTestnetIll ? "mainnet" : "testnet"}"`;
      const onOther = well.input_series
        .filter(({ series }) => NETWORK_LABEL.test(series))
        .map(({ series, values }) => ({ series: series.replace(NETWORK_LABEL, other), values }));
      expect(onOther, alertname).not.toEqual([]);
      return { ...ill, input_series: [...ill.input_series, ...onOther] };
    });
    expect(tests.length).toBeGreaterThan(20);
    const file = path.join(folder, "two-networks.test.yml");
    const doubled = { rule_files: [path.join(ROOT, ALERTS)], evaluation_interval: "1m", tests };
    writeFileSync(file, JSON.stringify(doubled));
    await check(["test", "rules", file]);
  });

  it.each(dashboards)("can parse every expression of $path", async ({ path: file, text }) => {
    const records = expressionsOf(JSON.parse(text) as Dashboard).map((expression, index) => ({
      record: `panel:${index}`,
      expr: expression.replaceAll("$__rate_interval", "5m").replaceAll(/\$(?:job|instance|network)/g, "x"),
    }));
    // JSON is valid YAML.
    const rulesFile = path.join(folder, path.basename(file));
    writeFileSync(rulesFile, JSON.stringify({ groups: [{ name: "panels", rules: records }] }));
    expect(records.length).toBeGreaterThan(10);
    await check(["check", "rules", rulesFile]);
  });
});

/** Runs promtool on an input and returns its output. Throws with the whole output if it fails. */
async function check(argv: readonly string[], input = ""): Promise<string> {
  const { code, out, err } = await runProgram(promtool ?? "", argv, input);
  if (code !== 0) throw new Error(`promtool ${argv.join(" ")} ended with ${code}: ${out.toString()}${err}`);
  return err;
}

/** The metrics that a text names but the service does not export. */
function namesNotServed(text: string): string[] {
  const types = new Map(
    [...served.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name = "", type]) => [name, type]),
  );
  const isServed = (name: string) =>
    types.has(name) || types.get(name.replace(/_(?:bucket|sum|count)$/, "")) === "histogram";
  const named = new Set(text.match(/\bservice_\w+/g));
  expect(named.size).toBeGreaterThan(5);
  return [...named].filter((name) => !isServed(name));
}

/** Whether an expression has a metric that the service exports for each network. */
function isAboutNetwork(expression: string): boolean {
  const names = expression.match(/\bservice_\w+/g) ?? [];
  return names.some((name) => new RegExp(`^${name}\\{[^}]*network="`, "m").test(served));
}

const NETWORK_LABEL = /\bnetwork="\w+"/;

function isFiringForNetwork({ alert_rule_test: [{ exp_alerts }] }: AlertCase): boolean {
  return exp_alerts.some(({ exp_labels }) => "network" in exp_labels);
}

/** The text of an alert in the case in which it fires. */
function firingCaseOf(name: string): ExpectedAlert {
  return cases
    .flatMap(({ alert_rule_test: [{ alertname, exp_alerts }] }) => (alertname === name ? exp_alerts : []))
    .at(0)!;
}

interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: { readonly summary: string };
}

interface AlertCase {
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly alert_rule_test: readonly [
    { readonly alertname: string; readonly exp_alerts: readonly ExpectedAlert[] },
  ];
}

interface ExpectedAlert {
  readonly exp_labels: Readonly<Record<string, string>>;
}

/** Whether a panel shows the network that the reader has chosen. */
const isOfChosen = ({ title }: Panel): boolean => title?.endsWith(" · $network") === true;

function expressionsOf(board: Dashboard): string[] {
  return board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

interface Dashboard {
  readonly schemaVersion: number;
  readonly templating: { readonly list: readonly { readonly type: string; readonly query: unknown }[] };
  readonly panels: readonly Panel[];
}

interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title?: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly datasource?: { readonly uid: string };
  readonly fieldConfig?: { readonly defaults: { readonly unit: string } };
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
}

async function findPromtool(): Promise<string | undefined> {
  const found = await runProgram("promtool", ["--version"]).catch(() => undefined);
  if (found?.code === 0) return "promtool";
  programMissing("promtool (Debian: prometheus)", "metrics, alerts and dashboards");
  return undefined;
}
