import assert from "node:assert/strict";
import type { ContainerStore } from "./container-store.ts";
import { CONFINED, type Containers } from "./containers.ts";

/** 320 MB, decimal as registries count. */
const SIZE_MAX_BYTES = 320e6;

interface Inspected {
  readonly Size: number;
  readonly Healthcheck: { readonly Test: readonly string[] };
  readonly Config: {
    readonly User: string;
    readonly StopSignal: string;
    readonly Entrypoint: readonly string[];
    readonly Labels: Readonly<Record<string, string>>;
  };
}

/** Checks the image's size, its settings, and its packages. */
export async function checkImage(
  store: ContainerStore,
  containers: Containers,
  print: (line: string) => void,
  image: string,
): Promise<void> {
  const [inspected] = JSON.parse(await store.podman(["image", "inspect", image])) as [Inspected];
  const { Size: size, Config: settings } = inspected;
  print(`size ${(size / 1e6).toFixed(0)} MB`);
  assert.ok(size < SIZE_MAX_BYTES, "the image is too large");
  assert.equal(settings.User, "65532:65532");
  assert.match(settings.StopSignal, /^(?:SIGTERM|15)$/);
  assert.match(inspected.Healthcheck.Test.join(" "), /health\.mjs/);
  assert.match(settings.Entrypoint.join(" "), /node .*cli\/main\.js$/);
  assert.equal(settings.Labels["org.opencontainers.image.licenses"], "Apache-2.0");

  assert.match(await containers.run(["help"], {}), /Exit codes: 0 done/);
  const script = `
    const { readFileSync, existsSync } = require("node:fs");
    const { components } = JSON.parse(readFileSync("/app/sbom.cdx.json", "utf8"));
    const { packages } = JSON.parse(readFileSync("/app/node_modules/.package-lock.json", "utf8"));
    console.log(JSON.stringify({
      listed: components.map(({ group, name, version }) => (group ? group + "/" : "") + name + "@" + version),
      installed: Object.entries(packages).map(([place, { version }]) => place.replace(/^.*node_modules\\//, "") + "@" + version),
      shell: existsSync("/bin/sh"),
    }));`;
  const found = JSON.parse(
    await store.podman([
      "run",
      "--rm",
      ...CONFINED,
      "--entrypoint",
      "/usr/local/bin/node",
      image,
      "-e",
      script,
    ]),
  ) as { listed: string[]; installed: string[]; shell: boolean };
  const sorted = (names: readonly string[]) => [...new Set(names)].sort();
  assert.deepEqual(
    sorted(found.listed),
    sorted(found.installed),
    "the bill of materials is not what is installed",
  );
  print(`${found.installed.length} packages, all in the bill of materials; shell: ${found.shell}`);
}
