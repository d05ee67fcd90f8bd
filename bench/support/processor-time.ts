import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

let ticksPerSecond: number | undefined;

/**
 * Returns the processor time that these processes of this machine have used so far, in milliseconds, without their
 * ended children. A process that has ended counts 0. Linux only; elsewhere the sum is NaN.
 */
export function processorTimeMs(pids: readonly number[]): number {
  if (process.platform !== "linux") return Number.NaN;
  ticksPerSecond ??= Number(execFileSync("getconf", ["CLK_TCK"]).toString());
  let ticks = 0;
  for (const pid of pids) ticks += ticksOf(pid);
  return (ticks / ticksPerSecond) * 1000;
}

/** User and system time are fields 14 and 15. The second field, a name in brackets, may contain anything. */
function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(fields[11]) + Number(fields[12]);
  } catch {
    return 0;
  }
}
