import type { FuzzCase } from "./fuzz-case.ts";
import { faultsOf, plannedRequestIds, startFuzzTarget } from "./fuzz-target.ts";
import { goodCalls } from "./good-calls.ts";
import { type FuzzOutcome, runCase } from "./run-case.ts";

/** The number of simultaneous connections. */
const AT_ONCE_COUNT = 256;
/** Milliseconds, far longer than every limit of the server. */
const DRAIN_TIMEOUT_MS = 20_000;

/** Runs the cases against one server, many at a time. @returns the violated guarantees */
export async function runBatch(cases: readonly FuzzCase[], isTls: boolean): Promise<string[]> {
  const heard: string[] = [];
  const onWarning = (warning: Error) => heard.push(`the process warned: ${warning.stack}`);
  const onCrash = (reason: unknown) =>
    heard.push(`the process would have ended: ${reason instanceof Error ? reason.stack : String(reason)}`);
  process.on("warning", onWarning);
  process.on("uncaughtException", onCrash);
  process.on("unhandledRejection", onCrash);
  const server = await startFuzzTarget(isTls);
  try {
    const outcomes = await runAll(cases, server.port, isTls);
    const good = await goodCalls(server.url);
    const isDrained = await server.drain({ delayMs: 0, timeoutMs: DRAIN_TIMEOUT_MS });
    const planned = plannedRequestIds(server);
    return [
      ...heard,
      ...outcomes.flatMap((outcome) => faultsOfOutcome(outcome, planned)),
      ...faultsOf(server),
      ...good,
      ...(isDrained ? [] : ["a connection or a call was left when all clients were gone"]),
    ];
  } finally {
    await server.close();
    process.off("warning", onWarning);
    process.off("uncaughtException", onCrash);
    process.off("unhandledRejection", onCrash);
  }
}

async function runAll(cases: readonly FuzzCase[], port: number, isTls: boolean): Promise<FuzzOutcome[]> {
  const outcomes: FuzzOutcome[] = [];
  const waiting = cases.values();
  const runNext = async () => {
    for (const fuzzCase of waiting) outcomes.push(await runCase(fuzzCase, port, isTls));
  };
  await Promise.all(Array.from({ length: AT_ONCE_COUNT }, runNext));
  return outcomes;
}

function faultsOfOutcome(
  { case: { number }, hasEnded, reply }: FuzzOutcome,
  planned: ReadonlySet<string>,
): string[] {
  const failed = [...reply.matchAll(/HTTP\/1\.1 500 [\s\S]*?x-request-id: (.*?)\r/gi)].filter(
    ([, requestId = ""]) => !planned.has(requestId),
  );
  return [
    ...(hasEnded
      ? []
      : [`case ${number} hangs: the server neither ended the connection nor was it allowed to stay`]),
    ...failed.map(() => `case ${number} got HTTP 500`),
  ];
}
