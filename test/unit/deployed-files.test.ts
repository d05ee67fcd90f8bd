/** What the Compose files and the manifests promise beside their form. */
import { describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { CONFIG_VARIABLES } from "../../src/config/variables.ts";
import { readSource, sourcesBelow } from "../support/source-files.ts";

/** The last step of a stop, beside the two times that are configured: src/main.ts. */
const CLOSE_SECONDS = 5;

interface Service {
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
}

const compose = parse(readSource("compose.yaml").text, { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: { readonly internal: { readonly internal: boolean } };
};
const replicas = ["api-1", "api-2", "worker"].map((name) => compose.services[name]!);
const known = new Set(CONFIG_VARIABLES.flatMap(({ name }) => [name, `${name}_FILE`]));

describe("compose.yaml", () => {
  it("publishes no port of the stores, and puts them only on the internal network", () => {
    for (const name of ["postgres", "redis", "prometheus", "otel-collector"]) {
      expect(compose.services[name]).not.toHaveProperty("ports");
      expect(compose.services[name]?.networks).toEqual(["internal"]);
    }
    expect(compose.networks.internal.internal).toBe(true);
  });

  it("publishes ports only on the loopback address", () => {
    const ports = Object.values(compose.services).flatMap((service) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(0);
    expect(ports.filter((port) => !port.startsWith("127.0.0.1:"))).toEqual([]);
  });

  it("waits longer for the replicas to stop than they need, with a read-only file system", () => {
    for (const { environment = {}, stop_grace_period: grace, read_only } of replicas) {
      expect(Number.parseInt(grace ?? "", 10)).toBeGreaterThan(drainSeconds(environment));
      expect(read_only).toBe(true);
    }
  });

  it("sets only variables that the service has, and secrets only by files", () => {
    const names = replicas.flatMap(({ environment = {} }) => Object.keys(environment));
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    // The collector's address on the internal network is no secret.
    expect(secretsGiven(names)).toEqual(new Set(["OTEL_EXPORTER_OTLP_ENDPOINT"]));
  });
});

describe.each(["api", "worker"])("the %s pods", (name) => {
  const pod = podOf(`deploy/kubernetes/base/${name}.yaml`);
  const config = variablesIn(readSource("deploy/kubernetes/base/config.env").text);

  it("get more time to stop than they need", () => {
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(drainSeconds(config));
  });

  it("get only variables that the service has, and secrets only by files", () => {
    const overlays = sourcesBelow(["deploy/kubernetes/overlays"], ["config.env"]);
    const inOverlays = overlays.flatMap(({ text }) => Object.keys(variablesIn(text)));
    const own = pod.containers[0]!.env.map((variable) => variable.name);
    const names = [...own, ...Object.keys(config), ...inOverlays];
    expect(overlays).toHaveLength(2);
    expect(names.filter((each) => !known.has(each))).toEqual([]);
    expect(secretsGiven(names)).toEqual(new Set());
  });

  it("run as the image's user, without write access or privileges", () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65_532 });
    expect(pod.containers[0]!.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });
});

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly containers: readonly {
    readonly env: readonly { readonly name: string }[];
    readonly securityContext: object;
  }[];
}

function podOf(file: string): Pod {
  const [document] = parseAllDocuments(readSource(file).text);
  return (document!.toJS() as { spec: { template: { spec: Pod } } }).spec.template.spec;
}

function variablesIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
}

function drainSeconds(variables: Readonly<Record<string, string>>): number {
  const { DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = variables;
  return (Number(DRAIN_DELAY_MS) + Number(DRAIN_TIMEOUT_MS)) / 1_000 + CLOSE_SECONDS;
}

/** The secrets among variables whose value stands in the open. */
function secretsGiven(names: readonly string[]): Set<string> {
  const secrets = CONFIG_VARIABLES.filter((variable) => "secret" in variable);
  return new Set(names.filter((name) => secrets.some((secret) => secret.name === name)));
}
