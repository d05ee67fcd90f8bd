import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { programMissing } from "../environment.ts";
import { pollUntil } from "../poll-until.ts";

/** Redis servers of their own, one of which takes over for another. */
export interface RedisGroup {
  /** The value of `REDIS_URL`. */
  readonly url: string;
  /** Kills the primary that has the key, and waits until another server has taken over. */
  killPrimaryOf(key: string): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Returns whether Redis's programs are installed. If not, skip the suite with `describe.skipIf`, and the run reports it at
 * its end. In CI this throws instead.
 */
export function hasRedisPrograms(): boolean {
  const isThere = ["redis-server", "redis-cli"].every((name) => spawnSync(name, ["--version"]).status === 0);
  if (!isThere) programMissing("redis-server", "the failover of Redis by Sentinels and in a Cluster");
  return isThere;
}

const PASSWORD = "group-password";

/** Starts a primary with a replica, and three Sentinels that promote it. */
export async function startSentinelGroup(): Promise<RedisGroup> {
  const servers = await openServers();
  const ports = { primary: await freePort(), replica: await freePort() };
  const secret = ["--requirepass", PASSWORD, "--masterauth", PASSWORD];
  const primary = await servers.start(ports.primary, secret);
  await servers.start(ports.replica, [...secret, "--replicaof", "127.0.0.1", String(ports.primary)]);
  await pollUntil(async () =>
    (await servers.ask(ports.replica, "INFO", "replication")).includes("link_status:up"),
  );
  const sentinels: number[] = [];
  for (let index = 0; index < 3; index++) {
    const port = await freePort();
    sentinels.push(port);
    const lines = [
      `sentinel monitor tss 127.0.0.1 ${ports.primary} 2`,
      `sentinel auth-pass tss ${PASSWORD}`,
      "sentinel down-after-milliseconds tss 2000",
      "sentinel failover-timeout tss 5000",
    ];
    await servers.start(port, ["--sentinel"], lines);
  }
  for (const port of sentinels)
    await pollUntil(async () => (await servers.ask(port, "SENTINEL", "CKQUORUM", "tss")).startsWith("OK 3"));
  return {
    url: `redis+sentinel://:${PASSWORD}@${sentinels.map((port) => `127.0.0.1:${port}`).join()}/tss`,
    async killPrimaryOf() {
      primary.kill("SIGKILL");
      await pollUntil(async () => (await servers.ask(ports.replica, "ROLE")).startsWith("master"));
    },
    stop: servers.stop,
  };
}

/** Starts a Cluster of three primaries with a replica each. */
export async function startRedisCluster(): Promise<RedisGroup> {
  const servers = await openServers();
  const nodes = new Map<number, ChildProcess>();
  const secret = ["--requirepass", PASSWORD, "--masterauth", PASSWORD];
  for (let index = 0; index < 6; index++) {
    const port = await freePort();
    const cluster = ["--cluster-enabled", "yes", "--cluster-node-timeout", "2000"];
    nodes.set(
      port,
      await servers.start(port, [...secret, ...cluster, "--cluster-port", String(await freePort())]),
    );
  }
  const ports = [...nodes.keys()];
  const places = ports.map((port) => `127.0.0.1:${port}`);
  await servers.ask(ports[0]!, "--cluster", "create", ...places, "--cluster-replicas", "1", "--cluster-yes");
  const isWhole = async (port: number) =>
    (await servers.ask(port, "CLUSTER", "INFO")).includes("cluster_state:ok");
  // A replica that was never in step with its primary does not take over.
  const isInStep = async (port: number) =>
    /role:master|link_status:up/.test(await servers.ask(port, "INFO", "replication"));
  for (const port of ports) await pollUntil(async () => (await isWhole(port)) && (await isInStep(port)));
  return {
    url: `redis+cluster://:${PASSWORD}@${places.join()}`,
    async killPrimaryOf(key) {
      const slot = Number(await servers.ask(ports[0]!, "CLUSTER", "KEYSLOT", key));
      const before = await ownerOf(ports[0]!, slot);
      nodes.get(before)!.kill("SIGKILL");
      const other = ports.find((port) => port !== before)!;
      await pollUntil(async () => (await ownerOf(other, slot)) !== before && isWhole(other));
    },
    stop: servers.stop,
  };

  /** The port of the primary that has a slot, as a node sees it. */
  async function ownerOf(port: number, slot: number): Promise<number> {
    const lines = (await servers.ask(port, "CLUSTER", "NODES")).split("\n");
    for (const line of lines) {
      const [, address = "", flags = "", , , , , , ...slots] = line.split(" ");
      const isOwner = slots.some((range) => {
        const [from, to = from] = range.split("-").map(Number);
        return from! <= slot && slot <= to!;
      });
      if (isOwner && flags.includes("master")) return Number(/:(\d+)@/.exec(address)?.[1]);
    }
    return 0;
  }
}

async function openServers() {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-redis-"));
  const children: ChildProcess[] = [];
  const ask = async (port: number, ...words: string[]): Promise<string> => {
    const options = { env: { REDISCLI_AUTH: PASSWORD, PATH: process.env["PATH"] } };
    const asked = promisify(execFile)(
      "redis-cli",
      ["-p", String(port), "--no-auth-warning", ...words],
      options,
    );
    return asked.then(({ stdout }) => stdout.trim()).catch(() => "");
  };
  return {
    ask,
    async start(port: number, args: readonly string[], lines: readonly string[] = []): Promise<ChildProcess> {
      const file = path.join(folder, `${port}.conf`);
      // A Sentinel writes what it learns into its file.
      writeFileSync(
        file,
        [`port ${port}`, "bind 127.0.0.1", 'save ""', `dir ${folder}`, ...lines, ""].join("\n"),
      );
      const own = args.includes("--cluster-enabled") ? ["--cluster-config-file", `nodes-${port}.conf`] : [];
      const child = spawn("redis-server", [file, ...args, ...own], { stdio: "ignore" });
      children.push(child);
      await pollUntil(async () => (await ask(port, "PING")) === "PONG");
      return child;
    },
    async stop() {
      const running = children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
      const ended = running.map((child) => once(child, "exit"));
      for (const child of running) child.kill("SIGKILL");
      await Promise.all(ended);
      rmSync(folder, { recursive: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
