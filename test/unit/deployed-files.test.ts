/** The guarantees of the Compose files and the manifests beyond their syntax. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadSignerConfig, readConfig } from "../../src/service/config/config.ts";
import { SIGNER_VARIABLES } from "../../src/service/config/variables/signer-variables.ts";
import { CONFIG_VARIABLES } from "../../src/service/config/variables.ts";
import { readSource, sourcesBelow } from "../support/repository/source-files.ts";

/** The last step of a stop, in addition to the two configured times: src/service/app/main.ts. */
const CLOSE_SECONDS = 5;

interface Service {
  readonly networks?: readonly string[];
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly volumes?: readonly string[];
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
    expect(overlays).toHaveLength(3);
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

describe("a signer", () => {
  const knownToSigner = new Set<string>(SIGNER_VARIABLES.map(({ name }) => name));
  const pod = podOf("deploy/kubernetes/signer/side-car/backend.yaml");
  const [sideCar] = pod.initContainers!;
  const [backend] = pod.containers;
  const created = podOf("deploy/kubernetes/signer/key-file/create.yaml");
  const { services } = composeOf("compose.signer.yaml");

  it("in Kubernetes has settings that it accepts, and listens on the loopback address alone", () => {
    const set = Object.fromEntries(sideCar!.env.map(({ name, value = "" }) => [name, value]));
    expect(Object.keys(set).filter((name) => !knownToSigner.has(name))).toEqual([]);
    expect(loadSignerConfig(set)).toMatchObject({
      socketPath: undefined,
      port: { host: "127.0.0.1" },
      service: { network: "mainnet" },
    });
    const [store, passphrase] = ["SIGNER_STORE", "SIGNER_PASSPHRASE_FILE"].map((name) => set[name]);
    expect(created.containers[0]!.env.map(({ value }) => value)).toEqual([store, passphrase]);
  });

  it("in Kubernetes shares only its token with the backend, which is another user", () => {
    const mounted = backend!.volumeMounts!.map(({ name }) => name);
    expect(mounted).toEqual(["signer-token"]);
    const { secret } = pod.volumes!.find(({ name }) => name === "signer-token")!;
    expect(secret!.items).toEqual([{ key: "token", path: "token" }]);
    const users = [sideCar!, backend!].map((one) => (one.securityContext as { runAsUser: number }).runAsUser);
    expect(new Set(users).size).toBe(2);
  });

  it("in Kubernetes runs without write access or privileges, and gets more time to stop than it needs", () => {
    for (const { securityContext } of [sideCar!, backend!, created.containers[0]!])
      expect(securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(30 + CLOSE_SECONDS);
  });

  it("by compose.signer.yaml publishes no port, and shares only its token with a program", () => {
    for (const service of Object.values(services)) expect(service).not.toHaveProperty("ports");
    for (const name of ["signer", "key-file"]) {
      const set = services[name]!.environment!;
      expect(Object.keys(set).filter((each) => !knownToSigner.has(each))).toEqual([]);
      expect(loadSignerConfig(set)).toMatchObject({ socketPath: undefined, port: { host: "127.0.0.1" } });
    }
    expect(services["python"]!.volumes).toEqual(["token:/token:ro", "./examples:/examples:ro"]);
  });
});

describe("each process gets only the secrets that it needs", () => {
  it.each([
    ["compose.yaml", ["api-1", "api-2"], "worker", compose],
    ["compose.two-networks.yaml", ["api-1", "api-2"], "worker", composeOf("compose.two-networks.yaml")],
    ["compose.dev.yaml", ["api-1", "api-2"], "worker", composeOf("compose.dev.yaml")],
  ])("by %s", (_, apis, worker, { services }) => {
    const of = (name: string) => services[name]!;
    for (const name of apis) {
      expect(uselessFor("api", Object.keys(of(name).environment ?? {}))).toEqual([]);
      expect(of(name).secrets ?? []).not.toEqual(
        expect.arrayContaining([expect.stringMatching(/hot_wallet|seed|seal/)]),
      );
    }
    expect(uselessFor("worker", Object.keys(of(worker).environment ?? {}))).toEqual([]);
    expect(of(worker).secrets ?? []).not.toContain("admin_api_key");
  });

  it.each([
    ["api", podOf("deploy/kubernetes/base/api.yaml")],
    ["worker", podOf("deploy/kubernetes/base/worker.yaml")],
    ["api", twoNetworksPatch("api")],
    ["worker", twoNetworksPatch("worker")],
  ] as const)("in Kubernetes, as variables and as mounted files of the %s pods (%#)", (type, pod) => {
    const set = pod.containers[0]!.env.filter((variable) => !("$patch" in variable));
    const mounted = pod.volumes!.find(({ name }) => name === "secrets")!.secret!.items;
    expect(
      uselessFor(
        type,
        set.map(({ name }) => name),
      ),
    ).toEqual([]);
    expect(
      uselessFor(
        type,
        mounted.map(({ key }) => key),
      ),
    ).toEqual([]);
    const files = set.flatMap(({ value = "" }) => /^\/run\/secrets\/tss\/(\w+)$/.exec(value)?.[1] ?? []);
    expect(mounted.map(({ path: file }) => file)).toEqual(expect.arrayContaining(files));
  });

  it("by a rule that refuses every key of a wallet, every seed and the seal key in an api process", () => {
    // An api process shows the secrets of webhooks, which sign nothing on a chain.
    const keys = CONFIG_VARIABLES.map(({ name }) => name).filter(
      (name) => name.endsWith("_HEX") && name !== "WEBHOOK_SECRET_HEX",
    );
    expect(keys).toHaveLength(6);
    expect(uselessFor("api", keys)).toEqual(keys);
  });
});

describe("a deployment of two networks", () => {
  const secrets = mkdtempSync(path.join(tmpdir(), "tss-deployed-"));
  afterAll(() => rmSync(secrets, { recursive: true }));

  /** Writes each secret once, so that two variables with the same file have the same value, as in a deployment. */
  const secretsIn = (environment: Environment): Environment => {
    const files = Object.entries(environment).filter(
      ([name, value]) => name.endsWith("_FILE") && value !== "",
    );
    return Object.fromEntries(
      files.map(([name, place]) => {
        const file = path.join(secrets, path.basename(place));
        writeFileSync(file, SECRETS.find(([pattern]) => name.startsWith(pattern))?.[1] ?? secretOf(place));
        return [name, file];
      }),
    );
  };
  const values = new Map<string, string>();
  const secretOf = (place: string): string => {
    values.set(place, values.get(place) ?? randomBytes(32).toString("hex"));
    return values.get(place)!;
  };
  const ids = Object.fromEntries(
    ["TESTNET", "MAINNET"].flatMap((network) =>
      ["PACKAGE_ID", "TREASURY_ID", "OPERATOR_CAP_IDS"].map((id) => [
        `SERVICECORE_${network}_${id}`,
        `0x${randomBytes(32).toString("hex")}`,
      ]),
    ),
  );

  it.each([
    ["compose.two-networks.yaml", composeOfTwo()],
    ["deploy/kubernetes/overlays/two-networks", kubernetesOfTwo()],
  ])("by %s has all settings of both networks, and no shared key", (_, environment) => {
    const { config, faults } = readConfig({
      ...environment,
      ...secretsIn(environment),
      ...FILLED_IN,
      ...ids,
    });
    expect(faults).toEqual([]);
    expect(config.networks.map(({ name }) => name)).toEqual(["testnet", "mainnet"]);
    const keys = Object.keys(environment).filter((name) =>
      /^(?:HOT_WALLET|BILLING_DEPOSIT)\w+_FILE$/.test(name),
    );
    const given = keys.filter((name) => environment[name] !== "");
    expect(given).toHaveLength(4);
    expect(new Set(given.map((name) => environment[name])).size).toBe(4);
  });

  it("by compose.two-networks.yaml keeps the keys of testnet, which hold coins already", () => {
    const before = { ...compose.services["worker"]!.environment };
    const after = composeOfTwo();
    for (const name of ["HOT_WALLET_SUI_SECRET_HEX", "BILLING_DEPOSIT_MASTER_SEED_HEX"])
      expect(after[`${name}_TESTNET_FILE`]).toBe(before[`${name}_FILE`]);
  });
});

type Environment = Readonly<Record<string, string>>;

/** The settings that an operator fills in besides the ids. */
const FILLED_IN = { BILLING_PRICE_SOURCES: "pyth" };

/** Secrets that are not keys, by the prefix of their variable. */
const SECRETS: readonly (readonly [string, string])[] = [
  ["DATABASE_URL", "postgresql://tss@postgres:5432/tss"],
  ["REDIS_URL", "redis://redis:6379"],
  ["SUI_GRPC_URL", "https://fullnode.example:443"],
];

function composeOf(file: string): typeof compose {
  return parse(readSource(file).text, { merge: true }) as typeof compose;
}

function composeOfTwo(): Environment {
  const overlay = composeOf("compose.two-networks.yaml");
  return { ...compose.services["worker"]?.environment, ...overlay.services["worker"]?.environment };
}

/** The names of secrets that a process of this type ignores, with the suffix of a network or of a file. */
function uselessFor(type: "api" | "worker", names: readonly string[]): string[] {
  const useless = CONFIG_VARIABLES.filter(
    (variable) => "uselessIn" in variable && variable.uselessIn === type,
  );
  const known = new Set(useless.map(({ name }) => name as string));
  return names.filter((name) =>
    known.has(name.replace(/_FILE$/, "").replace(/_HEX_(?:TESTNET|MAINNET)$/, "_HEX")),
  );
}

const TWO_NETWORKS = "deploy/kubernetes/overlays/two-networks";

/** What the overlay changes in the pods of a type. */
function twoNetworksPatch(type: "api" | "worker"): Pod {
  const { patches } = parse(readSource(`${TWO_NETWORKS}/kustomization.yaml`).text) as {
    readonly patches: readonly {
      readonly target: { readonly kind: string; readonly name?: string };
      readonly patch: string;
    }[];
  };
  const own = patches.find(({ target }) => target.kind === "Deployment" && target.name === `tss-${type}`);
  return (parse(own!.patch) as { spec: { template: { spec: Pod } } }).spec.template.spec;
}

/** The variables of the worker pods, with those that the overlay's patch adds and removes. */
function kubernetesOfTwo(): Environment {
  const folder = TWO_NETWORKS;
  const added = twoNetworksPatch("worker");
  const pod = podOf("deploy/kubernetes/base/worker.yaml");
  const own = [...pod.containers[0]!.env, ...added.containers[0]!.env].map(
    ({ name, value = "" }) => [name, value] as const,
  );
  const configs = ["deploy/kubernetes/base", folder].map((place) =>
    variablesIn(readSource(`${place}/config.env`).text),
  );
  return { ...Object.assign({}, ...configs), ...Object.fromEntries(own) };
}

interface Pod {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: object;
  readonly volumes?: readonly {
    readonly name: string;
    readonly secret?: { readonly items: readonly { readonly key: string; readonly path: string }[] };
  }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly securityContext: object;
  readonly volumeMounts?: readonly { readonly name: string }[];
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

/** The secrets among the variables with a plain-text value. */
function secretsGiven(names: readonly string[]): Set<string> {
  const secrets = CONFIG_VARIABLES.filter((variable) => "secret" in variable);
  return new Set(names.filter((name) => secrets.some((secret) => secret.name === name)));
}
