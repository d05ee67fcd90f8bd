import { type DestinationStream, destination } from "pino";

const STANDARD_ERROR = 2;

/**
 * Standard error as a destination for logs, written off the event loop: where it is a file, Node itself writes it
 * synchronously, and each line would wait for the disk. What is not yet written when the process exits is written then.
 */
export function openLogStream(): DestinationStream {
  const stream = destination({ dest: STANDARD_ERROR, sync: false });
  process.once("exit", () => stream.flushSync());
  return stream;
}
