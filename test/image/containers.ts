import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { poll } from "../../src/protocol/chain/poll.ts";
import type { ContainerStore } from "./container-store.ts";

/** A running container of the image. */
export interface Container {
  readonly name: string;
  /** Runs a line of JavaScript in the container. Resolves with its output. */
  evaluate(line: string): Promise<string>;
  /** Waits for a line of its output. */
  said(line: RegExp, timeoutMs: number): Promise<string>;
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number>;
}

/** Containers of one image, each with only the rights that the documents give it. */
export interface Containers {
  start(
    argv: readonly string[],
    environment: Record<string, string>,
    secrets?: Record<string, string>,
    volume?: string,
  ): Promise<Container>;
  /** Runs one command of `tss` to its end. Resolves with its output. */
  run(
    argv: readonly string[],
    environment: Record<string, string>,
    secrets?: Record<string, string>,
    volume?: string,
  ): Promise<string>;
  /** Makes a volume for `/data` with these files, which only the image's user may read. Resolves with its name. */
  makeVolume(files: Readonly<Record<string, string>>): Promise<string>;
  close(): Promise<void>;
}

/** Restrictions of the compose file and the manifests. The limits are those of a machine that is itself a container. */
export const CONFINED = [
  ...["--network", "host", "--read-only", "--tmpfs", "/tmp", "--cap-drop", "all"],
  ...["--security-opt", "no-new-privileges", "--memory", "2g"],
  ...["--ulimit", "nofile=1024:4096", "--ulimit", "nproc=4096:4096"],
];
const STOP_SECONDS = "20";

/** Prepares to run containers of an image. */
export function openContainers(store: ContainerStore, image: string): Containers {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-image-secrets-"));
  chmodSync(folder, 0o755);
  const names: string[] = [];
  const volumes: string[] = [];

  /** The options that set variables, and those that mount each secret as a file. */
  function options(
    environment: Record<string, string>,
    secrets: Record<string, string>,
    volume: string | undefined,
  ): string[] {
    const own = path.join(folder, randomUUID());
    mkdirSync(own);
    const variables = Object.entries(environment).flatMap(([name, value]) => ["--env", `${name}=${value}`]);
    const files = Object.entries(secrets).flatMap(([name, value]) => {
      writeFileSync(path.join(own, name), value);
      return ["--env", `${name}_FILE=/run/secrets/${name}`];
    });
    const data = volume === undefined ? [] : ["--volume", `${volume}:/data`];
    return [...CONFINED, ...variables, ...files, ...data, "--volume", `${own}:/run/secrets:ro`];
  }

  return {
    async start(argv, environment, secrets = {}, volume?: string) {
      const name = `tss-image-${randomUUID()}`;
      names.push(name);
      await store.podman([
        "run",
        "--detach",
        "--name",
        name,
        ...options(environment, secrets, volume),
        image,
        ...argv,
      ]);
      return {
        name,
        evaluate: (line) => store.podman(["exec", name, "/usr/local/bin/node", "-e", line]),
        said: (line, timeoutMs) =>
          poll(
            async () => {
              const [found] = line.exec(await store.podman(["logs", name])) ?? [];
              if (found !== undefined) return found;
              const state = await store.podman(["inspect", "--format", "{{.State.Status}}", name]);
              if (state.trim() !== "running") throw new Error(`${argv.join(" ")} is ${state.trim()}`);
              return undefined;
            },
            { timeoutMs, maxIntervalMs: 500 },
          ),
        async stop() {
          await store.podman(["stop", "--time", STOP_SECONDS, name]);
          return Number(await store.podman(["inspect", "--format", "{{.State.ExitCode}}", name]));
        },
      };
    },
    run: (argv, environment, secrets = {}, volume?: string) =>
      store.podman(["run", "--rm", ...options(environment, secrets, volume), image, ...argv]),
    async makeVolume(files) {
      const volume = `tss-image-${randomUUID()}`;
      volumes.push(volume);
      const script = `
        for (const [name, text] of Object.entries(JSON.parse(process.env.FILES)))
          require("node:fs").writeFileSync("/data/" + name, text, { mode: 0o600 });`;
      const given = options({ FILES: JSON.stringify(files) }, {}, volume);
      await store.podman([
        "run",
        "--rm",
        ...given,
        "--entrypoint",
        "/usr/local/bin/node",
        image,
        "-e",
        script,
      ]);
      return volume;
    },
    async close() {
      for (const name of names) await store.podman(["rm", "--force", "--volumes", name]);
      for (const volume of volumes) await store.podman(["volume", "rm", "--force", volume]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
