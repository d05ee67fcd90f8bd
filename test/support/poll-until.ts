import { setTimeout as sleep } from "node:timers/promises";

/**
 * Asks at an interval until the answer is truthy, and returns it. Throws at the time limit. Only for the state of
 * another process that announces nothing: the sessions of PostgreSQL, the replies of a started service, objects of a
 * fullnode. A test waits for its own process with an event: a message, a signal, a line of a log, or
 * `observeDatabase`.
 */
export async function pollUntil<T>(
  ask: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 20 }: PollOptions = {},
): Promise<Exclude<T, false | undefined | null | "">> {
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer) return answer as Exclude<T, false | undefined | null | "">;
    if (performance.now() >= endMs) throw new Error(`still not so after ${timeoutMs} ms: ${ask}`);
    await sleep(intervalMs);
  }
}

interface PollOptions {
  /** Default 1 min. It ends a hang, and decides nothing else. */
  readonly timeoutMs?: number;
  /** Default 20 ms. */
  readonly intervalMs?: number;
}
