import type { Browser, Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  /** What the thread itself computed, in microseconds: not what it waited for a processor. */
  readonly tdur?: number;
  readonly args: { readonly name?: string };
}

/** A task that takes longer delays what the user sees. */
const LONG_MS = 50;

/**
 * Does something in a page, and returns its total blocking time: what the tasks of its main thread computed beyond 50 ms
 * each, in milliseconds. A task on a busy machine may take longer than it should, so a sum says more than the longest one.
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
    // The task that sent the result is recorded when it ends, and it has ended when the page answers again.
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
