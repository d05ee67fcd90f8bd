import { readFileSync } from "node:fs";

/** Returns the processor time that the main thread of a process has used so far, in milliseconds. Linux only. */
export function mainThreadMs(pid: number): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "latin1").split(" ");
  return Number(nanoseconds) / 1e6;
}
