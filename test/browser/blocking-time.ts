import type { Browser, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** Processor time of the thread in microseconds, without its waits for a processor. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** A longer task visibly delays the page. */
const LONG_MS = 50;

/**
 * Runs an action in a page and returns its total blocking time: for each task of the main thread, its processor time
 * beyond 50 ms, summed, in milliseconds. One task may run long on a busy machine, so the sum is more reliable than the
 * maximum.
 */
export async function blockingTime<T>(
  browser: Browser,
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly blockedMs: number; readonly taskCount: number }> {
  const categories = ["toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline"];
  await browser.startTracing(page, { categories });
  let result: T;
  let trace: string;
  try {
    result = await act();
    // The task that sent the result is recorded only when it ends; the next reply of the page proves that it has ended.
    await page.evaluate("0");
  } finally {
    trace = (await browser.stopTracing()).toString();
  }
  const { traceEvents } = JSON.parse(trace) as { readonly traceEvents: readonly TraceEvent[] };
  const place = ({ pid, tid }: TraceEvent) => `${pid}/${tid}`;
  const mainThreads = new Set(
    traceEvents
      .filter(({ ph, name, args }) => ph === "M" && name === "thread_name" && args.name === "CrRendererMain")
      .map(place),
  );
  const tasks = traceEvents
    .filter((event) => event.ph === "X" && event.name === "RunTask" && mainThreads.has(place(event)))
    .map(({ tdur = 0 }) => tdur / 1000);
  const blockedMs = tasks.reduce((sum, taskMs) => sum + Math.max(0, taskMs - LONG_MS), 0);
  return { result, blockedMs, taskCount: tasks.length };
}
