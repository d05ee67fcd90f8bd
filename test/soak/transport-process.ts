/** The server of the transport soak, in its own process. It answers `measure` with its resources. */
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import type { HandlerContext } from "@connectrpc/connect";
import { registerService } from "../../src/transport/calls/service-registration.ts";
import { type FakeServer, startFakes } from "../component/transport/fake-services.ts";
import { TestService } from "../fuzz/endpoints.ts";

/** The resources of the process. */
export interface ProcessState {
  /** The smallest of several measurements of the heap and its external memory, each after a garbage collection. */
  readonly heapBytes: number;
  /** The number of resources that keep its event loop alive, by kind. */
  readonly resources: Readonly<Record<string, number>>;
  /**
   * Warnings, such as of too many listeners, internal failures of the server, and errors without a caller to report to.
   */
  readonly complaints: readonly string[];
  readonly callCount: number;
}

const COLLECTIONS_COUNT = 6;
const TICK_MS = 5;
const FORGET_INTERVAL_MS = 200;
/** The message of the fakes' intentional failures. */
const PLANNED = "secret internals";

const complaints: string[] = [];
process.on("warning", (warning) => complaints.push(String(warning.stack)));
const server = await startFakes({
  services: [registerService(TestService, testing() as never)],
  limits: {
    bodyBytes: 64 * 1024,
    // Short, so that they pass many times, yet longer than a busy machine may delay an honest client.
    firstByteTimeoutMs: 2_500,
    headersTimeoutMs: 2_500,
    bodyTimeoutMs: 2_500,
    idleTimeoutMs: 2_500,
    lingerTimeoutMs: 100,
  },
});
let callCount = 0;
// The fakes record everything, which would look like a leak of the transport.
const forgetting = setInterval(() => forget(server), FORGET_INTERVAL_MS);
process.on("message", () => void measure().then((state) => process.send?.(state)));
process.on("disconnect", () => process.exit());
process.send?.({ url: server.url, port: server.port });

async function measure(): Promise<ProcessState> {
  forget(server);
  let heapBytes = Number.POSITIVE_INFINITY;
  for (let count = 0; count < COLLECTIONS_COUNT; count++) {
    globalThis.gc?.();
    await turn();
    const { heapUsed, external } = process.memoryUsage();
    heapBytes = Math.min(heapBytes, heapUsed + external);
  }
  const resources: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo()) {
    if (kind !== "Immediate") resources[kind] = (resources[kind] ?? 0) + 1;
  }
  return { heapBytes, resources, complaints, callCount };
}

function forget({ calls, seen, failures, errors }: FakeServer): void {
  callCount += calls.length;
  const ours = failures.filter(({ level, cause }) => level === "error" && !String(cause).includes(PLANNED));
  complaints.push(...ours.map(({ method, detail, cause }) => `${method}: ${detail ?? String(cause)}`));
  for (const list of [calls, seen, failures, errors]) list.length = 0;
  forgetting.refresh();
}

function testing() {
  const payload = (size: number) => ({
    payload: { body: new Uint8Array(Math.min(Math.max(size, 0), 100_000)) },
  });
  return {
    emptyCall: () => ({}),
    async unaryCall({ responseSize = 0, hang = false }, { signal }: HandlerContext) {
      if (hang) await untilLeft(signal);
      return payload(responseSize);
    },
    /** If asked to hang, continues until its client leaves. */
    async *streamingOutputCall({ hang = false }, { signal }: HandlerContext) {
      for (let count = 0; (hang || count < 3) && !signal.aborted; count++) {
        yield payload(20_000);
        await sleep(TICK_MS);
      }
    },
    async *fullDuplexCall(requests: AsyncIterable<unknown>) {
      for await (const _ of requests) yield payload(100);
    },
  };
}

function untilLeft(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
