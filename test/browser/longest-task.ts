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

/** Does something in a page, and says how long the longest task of its main thread computed, in milliseconds. */
export async function longestTask<T>(
  browser: Browser,
  page: Page,
  act: () => Promise<T>,
): Promise<{ readonly result: T; readonly longestMs: number; readonly taskCount: number }> {
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
  return { result, longestMs: Math.max(...tasks), taskCount: tasks.length };
}
