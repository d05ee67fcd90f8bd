import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Gives this thread a lower priority than the other threads of the process. Use it for long computations: on a machine
 * with few cores the event loops would otherwise wait for them. Works on Linux, where each thread has its own priority;
 * does nothing elsewhere.
 */
export function lowerPriority(): void {
  const threadId = linuxThreadId();
  if (threadId !== undefined) setPriority(threadId, constants.priority.PRIORITY_LOW);
}

/** `/proc/thread-self` points to `<process>/task/<thread>` (proc(5)). */
function linuxThreadId(): number | undefined {
  try {
    return Number(readlinkSync("/proc/thread-self").split("/").at(-1));
  } catch {
    return undefined;
  }
}
