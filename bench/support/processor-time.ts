import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

let ticksPerSecond: number | undefined;

/**
 * The processor time that processes of this machine have used so far, children of theirs that ended not included, in
 * milliseconds. A process that has ended counts nothing. Linux only; elsewhere the sum is NaN.
 */
export function processorTimeMs(pids: readonly number[]): number {
  if (process.platform !== "linux") return Number.NaN;
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"]).toString());
  let ticks = 0;
  for (const pid of pids) ticks += ticksOf(pid);
  return (ticks / ticksPerSecond) * 1000;
}

/** User and system time, which come 14th and 15th; the second field, a name in brackets, may hold anything. */
function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
