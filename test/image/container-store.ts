import { mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { programEnvironment } from "../support/environment.ts";
import { runCommand } from "./run-command.ts";

/** Images and containers in a separate folder, apart from those of this machine. */
export interface ContainerStore {
  /** The options of buildah and podman that select it. */
  readonly options: readonly string[];
  /** Where the container tools find their configuration. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  buildah(argv: readonly string[], shown?: boolean): Promise<string>;
  podman(argv: readonly string[]): Promise<string>;
}

/** The settings with which containers run inside a container, with no more rights than that one. */
const CONFIGURATION = '[network]\nnetwork_backend = "netavark"\n[engine]\nruntime = "runc"\n';

/** Opens the store. It persists between runs, so that an unchanged layer is not built again. */
export function openContainerStore(): ContainerStore {
  const folder = path.join(tmpdir(), "tss-image");
  mkdirSync(folder, { recursive: true });
  const configuration = path.join(folder, "containers.conf");
  writeFileSync(configuration, CONFIGURATION);
  const options = ["--root", path.join(folder, "storage"), "--runroot", path.join(folder, "runroot")];
  const environment = { ...programEnvironment, CONTAINERS_CONF: configuration };
  return {
    options,
    environment,
    buildah: (argv, shown = false) => runCommand("buildah", [...options, ...argv], { shown, environment }),
    podman: (argv) => runCommand("podman", [...options, ...argv], { environment }),
  };
}
