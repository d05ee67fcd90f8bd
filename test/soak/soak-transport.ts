import { fork } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { programEnvironment } from "../support/environment.ts";
import type { ProcessState } from "./transport-process.ts";
import { ACTIVITIES, type SoakedServer } from "./transport-traffic.ts";

/** The report of a soak of the transport. */
export interface TransportSoakReport {
  /** The violated guarantees, as sentences; empty if all hold. */
  readonly faults: readonly string[];
  /** The number of activities, by name. */
  readonly counts: Readonly<Record<string, number>>;
  /** A table of the results. */
  readonly table: string;
}

/** Options of a soak. */
export interface TransportSoakOptions {
  /** The duration of the traffic in milliseconds, including the warm-up. */
  readonly durationMs: number;
}

/** Caches, pools and compiled code grow during the warm-up. */
const WARM_UP_SHARE = 0.3;
const GROWTH_SHARE = 0.1;
/** The normal variation of the heap. */
const GROWTH_FLOOR_BYTES = 4 * 1024 * 1024;
const CLIENTS_PER_ACTIVITY = 2;
/** Longer than all time-outs of the server together. Anything left after it is a leak. */
const SETTLE_TIMEOUT_MS = 15_000;
const SETTLE_INTERVAL_MS = 250;

/**
 * Sends good and bad traffic of all protocols to a server in its own process. After all clients have left, the server
 * must hold only its earlier resources: the memory of the warm-up, no connection, no timer.
 */
export async function soakTransport({ durationMs }: TransportSoakOptions): Promise<TransportSoakReport> {
  const child = fork(path.join(import.meta.dirname, "transport-process.ts"), {
    execArgv: ["--expose-gc", "--import", "tsx"],
    env: programEnvironment,
  });
  try {
    const [server] = (await once(child, "message")) as [SoakedServer];
    const measure = async () => {
      child.send("measure");
      const [state] = (await once(child, "message")) as [ProcessState];
      return state;
    };
    const fresh = await measure();
    const counts: Record<string, number> = {};
    const failures: string[] = [];
    await traffic(server, durationMs * WARM_UP_SHARE, counts, failures);
    const warm = await settle(measure, fresh);
    await traffic(server, durationMs * (1 - WARM_UP_SHARE), counts, failures);
    const end = await settle(measure, fresh);
    const faults = [...new Set([...failures, ...faultsOf(fresh, warm, end)])];
    return { faults, counts, table: tableOf({ fresh, warm, end }, counts) };
  } finally {
    child.disconnect();
    await once(child, "exit");
  }
}

async function traffic(
  server: SoakedServer,
  durationMs: number,
  counts: Record<string, number>,
  failures: string[],
): Promise<void> {
  const endMs = performance.now() + durationMs;
  const clients = Object.entries(ACTIVITIES).flatMap(([name, act]) =>
    Array.from({ length: CLIENTS_PER_ACTIVITY }, async () => {
      while (performance.now() < endMs) {
        await act(server).catch((reason: unknown) => failures.push(`${name}: ${String(reason)}`));
        counts[name] = (counts[name] ?? 0) + 1;
      }
    }),
  );
  await Promise.all(clients);
}

/** Waits until the server has released its additional resources, or until the time limit. */
async function settle(measure: () => Promise<ProcessState>, fresh: ProcessState): Promise<ProcessState> {
  const endMs = performance.now() + SETTLE_TIMEOUT_MS;
  for (;;) {
    const state = await measure();
    if (leftOver(fresh, state).length === 0 || performance.now() > endMs) return state;
    await sleep(SETTLE_INTERVAL_MS);
  }
}

function faultsOf(fresh: ProcessState, warm: ProcessState, end: ProcessState): string[] {
  const mostBytes = warm.heapBytes + Math.max(GROWTH_SHARE * warm.heapBytes, GROWTH_FLOOR_BYTES);
  return [
    ...leftOver(fresh, end).map((kind) => `the server keeps ${end.resources[kind]} ${kind} without clients`),
    ...(end.heapBytes > mostBytes
      ? [`the heap grew from ${inMb(warm.heapBytes)} to ${inMb(end.heapBytes)}`]
      : []),
    ...end.complaints,
  ];
}

/** Returns the kinds of resources whose number has grown. */
function leftOver(fresh: ProcessState, now: ProcessState): string[] {
  return Object.entries(now.resources).flatMap(([kind, count]) =>
    count > (fresh.resources[kind] ?? 0) ? [kind] : [],
  );
}

function tableOf(
  states: Readonly<Record<string, ProcessState>>,
  counts: Readonly<Record<string, number>>,
): string {
  const resources = (state: ProcessState) =>
    Object.entries(state.resources)
      .map(([kind, count]) => `${kind} ${count}`)
      .join(", ");
  return [
    ...Object.entries(states).map(
      ([name, state]) =>
        `${name.padEnd(8)}${inMb(state.heapBytes).padStart(9)}  ${String(state.callCount).padStart(8)} calls  ${resources(state)}`,
    ),
    ...Object.entries(counts).map(([name, count]) => `${String(count).padStart(8)}  ${name}`),
  ].join("\n");
}

function inMb(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}
