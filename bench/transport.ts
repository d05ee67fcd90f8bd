/**
 * The cost of one authenticated GetSign for a server, for several ways to serve it: processor time of the server per
 * request, and the callers' latency. The database's row is in memory. Server and load have one core each. Every round is
 * short and gives every way the same load in turn, so that other work on the machine burdens all of them alike; every run
 * starts new processes. `npx tsx bench/transport.ts [--runs 3] [--rounds 8] [--seconds 0.5] [--only grpc-js,...]`.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { parseArgs } from "node:util";
import type { LoadResult, LoadTask } from "./transport-load.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "3" },
    rounds: { type: "string", default: "8" },
    seconds: { type: "string", default: "0.5" },
    only: { type: "string" },
  },
});

/** Name, server, kind of request, and what distinguishes it from a backend's with a key. */
const WAYS = [
  ["this service, gRPC", "ours", "grpc"],
  ["this service, gRPC with a session", "ours", "grpc", { isSession: true }],
  ["@grpc/grpc-js", "grpc-js", "grpc"],
  ["connect-node, gRPC", "connect-node", "grpc"],
  ["this service, Connect JSON", "ours", "connect"],
  ["this service, REST", "ours", "rest"],
  ["this service, REST with a session", "ours", "rest", { isSession: true }],
  ["this service, REST from a page", "ours", "rest", { isPage: true }],
  ["this service, REST with a session from a page", "ours", "rest", { isSession: true, isPage: true }],
  ["connect-node, Connect JSON", "connect-node-h1", "connect"],
  ["fastify, JSON", "fastify", "rest"],
  ["node:http and protobuf-es, JSON", "bare", "rest"],
] as const satisfies readonly (readonly [string, string, LoadTask["kind"], Partial<LoadTask>?])[];

const RATIOS = [
  ["this service, gRPC with a session", "this service, gRPC"],
  ["this service, REST with a session", "this service, REST"],
  ["this service, REST with a session from a page", "this service, REST from a page"],
  ["this service, REST from a page", "this service, REST"],
  ["this service, gRPC", "@grpc/grpc-js"],
  ["this service, gRPC", "connect-node, gRPC"],
  ["this service, Connect JSON", "connect-node, Connect JSON"],
  ["this service, REST", "connect-node, Connect JSON"],
] as const;
const WARM_UP_ROUNDS = 3;

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

/** The measurements of every way, by run and round. */
const runs: Map<string, Measured>[][] = [];
for (let run = 0; run < Number(values.runs); run++) runs.push(await measureRun());
process.stderr.write("\n");

console.log(
  "| Way | CPU µs a request: minimum, median | requests a second | p50 ms | p99 ms |\n|---|---|---|---|---|",
);
for (const [name] of ways) {
  const measured = runs.flatMap((rounds) => rounds.map((round) => measuredOf(round, name)));
  const cpu = measured.map((one) => one.cpuMicros);
  const of = (pick: (one: Measured) => number) => median(measured.map(pick));
  const cells = [
    `${Math.min(...cpu).toFixed(0)}, ${median(cpu).toFixed(0)}`,
    of((one) => one.perSecond).toFixed(0),
    of((one) => one.p50Ms).toFixed(2),
    of((one) => one.p99Ms).toFixed(2),
  ];
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
for (const [one, other] of RATIOS) {
  if (ways.some(([name]) => name === one) && ways.some(([name]) => name === other)) showRatio(one, other);
}

interface Measured {
  readonly cpuMicros: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Running {
  readonly child: ChildProcess;
  readonly port: number;
}

/** Measures every way in each of a run's rounds, on new processes. */
async function measureRun(): Promise<Map<string, Measured>[]> {
  const servers = new Map<string, Running>();
  for (const [, server] of ways) {
    if (servers.has(server)) continue;
    const child = start("transport-server.js", [server], 0);
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    servers.set(server, { child, port });
  }
  const load = start("transport-load.js", [], 1);
  const rounds: Map<string, Measured>[] = [];
  for (let round = -WARM_UP_ROUNDS; round < Number(values.rounds); round++) {
    const measured = new Map<string, Measured>();
    // No way always follows the same one.
    const order = round % 2 === 0 ? ways : ways.toReversed();
    for (const [name, server, kind, more] of order)
      measured.set(name, await measure(servers.get(server), { kind, ...more }, load));
    if (round >= 0) rounds.push(measured);
    process.stderr.write(round < 0 ? "~" : ".");
  }
  load.kill();
  for (const { child } of servers.values()) child.kill();
  return rounds;
}

async function measure(
  server: Running | undefined,
  call: Omit<LoadTask, "port" | "seconds">,
  load: ChildProcess,
): Promise<Measured> {
  if (server === undefined) throw new Error("the server does not run");
  const before = await ask<NodeJS.CpuUsage>(server.child, "cpu");
  const result = await ask<LoadResult>(load, { ...call, port: server.port, seconds: Number(values.seconds) });
  const after = await ask<NodeJS.CpuUsage>(server.child, "cpu");
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

function measuredOf(round: Map<string, Measured>, name: string): Measured {
  const found = round.get(name);
  if (found === undefined) throw new Error(`${name} was not measured`);
  return found;
}

/** Prints the quotient of two ways' processor time: of their minimums, and the median of the rounds for each run. */
function showRatio(one: string, other: string): void {
  const cpuOf = (round: Map<string, Measured>, name: string) => measuredOf(round, name).cpuMicros;
  const least = (name: string) => Math.min(...runs.flat().map((round) => cpuOf(round, name)));
  const medians = runs.map((rounds) =>
    median(rounds.map((round) => cpuOf(round, one) / cpuOf(round, other))),
  );
  const text = medians.toSorted((a, b) => a - b).map((value) => value.toFixed(2));
  console.log(
    `CPU of ${one} / ${other}: ${(least(one) / least(other)).toFixed(2)} of the minimums, medians of the runs ${text.join(", ")}`,
  );
}
