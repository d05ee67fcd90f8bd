import { readlinkSync } from "node:fs";
import { constants, setPriority } from "node:os";

/**
 * Lets every other thread of this process go first, for a thread that computes for long: on a machine with few cores
 * the event loops would else wait for it. Linux gives each thread a priority of its own; elsewhere nothing happens.
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
