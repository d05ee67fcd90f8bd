/** A server of the transport in its own process. It drains on SIGTERM as the service does. */
import { startFakes } from "../component/transport/fake-services.ts";

/** The report of the process at its end. */
export interface DrainReport {
  readonly isClean: boolean;
  /** The number of calls that reached their handler. */
  readonly begunCount: number;
}

const DELAY_MS = 700;
let begunCount = 0;
const server = await startFakes({
  // Long enough that calls are always in progress.
  getSign: async ({ signRequestId }) => {
    begunCount++;
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { signRequestId };
  },
});
process.on("SIGTERM", () => {
  void server.drain({ delayMs: DELAY_MS, timeoutMs: 50_000 }).then((isClean) => {
    process.send?.({ isClean, begunCount } satisfies DrainReport);
    process.disconnect();
  });
});
process.send?.({ url: server.url });
