import { type DestinationStream, destination } from "pino";

/**
 * Opens standard error as a destination for logs and writes it off the event loop. Node itself writes standard error
 * synchronously if it is a file, so each line would wait for the disk. Buffered lines are flushed when the process
 * exits.
 */
export function openLogStream(): DestinationStream {
  const stream = destination({ dest: STANDARD_ERROR, sync: false });
  process.once("exit", () => stream.flushSync());
  return stream;
}

const STANDARD_ERROR = 2;
