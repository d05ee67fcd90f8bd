/**
 * The cost of one authenticated GetSign for a server, for several ways to serve it: processor time of the server per
 * request, and the callers' latency. The database's row is in memory. Server and load have one core each; every way
 * gets the same load in turn, round by round. `npx tsx bench/transport.ts [--seconds 2] [--rounds 3] [--only
 * grpc-js,...]`.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { parseArgs } from "node:util";
import type { LoadResult, LoadTask } from "./transport-load.ts";

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "3" },
    only: { type: "string" },
  },
});

/** Name, server, and kind of request. */
const WAYS = [
  ["this service, gRPC", "ours", "grpc"],
  ["@grpc/grpc-js", "grpc-js", "grpc"],
  ["connect-node, gRPC", "connect-node", "grpc"],
  ["this service, Connect JSON", "ours", "connect"],
  ["this service, REST", "ours", "rest"],
  ["connect-node, Connect JSON", "connect-node-h1", "connect"],
  ["fastify, JSON", "fastify", "rest"],
  ["node:http and protobuf-es, JSON", "bare", "rest"],
] as const;

// Compiled, as published: tsx would add the cost of naming each closure at run time.
const ROOT = path.resolve(import.meta.dirname, "..");
const COMPILED = path.join(ROOT, "node_modules/.cache/bench-transport");
execFileSync(
  path.join(ROOT, "node_modules/.bin/tsc"),
  ["--noEmit", "false", "--rewriteRelativeImportExtensions", "--outDir", COMPILED],
  {
    cwd: ROOT,
  },
);
const only = values.only?.split(",");
const ways = WAYS.filter(
  ([name, server]) => !only || only.some((part) => name.includes(part) || server === part),
);

const servers = new Map<string, { child: ChildProcess; port: number }>();
for (const [, server] of ways) {
  if (servers.has(server)) continue;
  const child = start("transport-server.js", [server], 0);
  const [{ port }] = (await once(child, "message")) as [{ port: number }];
  servers.set(server, { child, port });
}
const load = start("transport-load.js", [], 1);
const results = new Map<string, Measured[]>();
for (let round = 0; round <= Number(values.rounds); round++) {
  for (const [name, server, kind] of ways) {
    const measured = await measure(server, kind);
    // The first round warms up.
    if (round > 0) results.set(name, [...(results.get(name) ?? []), measured]);
    process.stderr.write(round > 0 ? "." : "~");
  }
}
process.stderr.write("\n");
load.kill();
for (const { child } of servers.values()) child.kill();

console.log("| Way | CPU µs a request | requests a second | p50 ms | p99 ms |\n|---|---|---|---|---|");
for (const [name, measured] of results) {
  const of = (pick: (one: Measured) => number) => median(measured.map(pick));
  const cells = [of((m) => m.cpuMicros).toFixed(0), of((m) => m.perSecond).toFixed(0)];
  console.log(
    `| ${name} | ${cells.join(" | ")} | ${of((m) => m.p50Ms).toFixed(2)} | ${of((m) => m.p99Ms).toFixed(2)} |`,
  );
}
ratio("this service, gRPC", "@grpc/grpc-js");
ratio("this service, gRPC", "connect-node, gRPC");
ratio("this service, Connect JSON", "connect-node, Connect JSON");
ratio("this service, REST", "connect-node, Connect JSON");

interface Measured {
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

async function measure(server: string, kind: LoadTask["kind"]): Promise<Measured> {
  const entry = servers.get(server);
  if (entry === undefined) throw new Error(`no server ${server}`);
  const before = await ask<NodeJS.CpuUsage>(entry.child, "cpu");
  const result = await ask<LoadResult>(load, { kind, port: entry.port, seconds: Number(values.seconds) });
  const after = await ask<NodeJS.CpuUsage>(entry.child, "cpu");
  const usedMicros = after.user + after.system - before.user - before.system;
  return {
    cpuMicros: usedMicros / result.count,
    perSecond: result.count / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
  };
}

async function ask<T>(child: ChildProcess, question: unknown): Promise<T> {
  const answer = once(child, "message");
  child.send(question as object);
  return (await answer)[0] as T;
}

/** Pins each process to its own core where the system can. */
function start(file: string, args: string[], core: number): ChildProcess {
  const script = path.join(COMPILED, "bench", file);
  const pinned = { execPath: "taskset", execArgv: ["-c", String(core), process.execPath] };
  const child = fork(script, args, process.platform === "linux" ? pinned : {});
  child.once("exit", (code) => {
    if (code !== null) throw new Error(`${file} ${args.join(" ")} has died`);
  });
  return child;
}

function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

function ratio(one: string, other: string): void {
  const of = (name: string) => median((results.get(name) ?? []).map((m) => m.cpuMicros));
  const quotient = of(one) / of(other);
  if (!Number.isNaN(quotient)) console.log(`CPU of ${one} / ${other}: ${quotient.toFixed(2)}`);
}
