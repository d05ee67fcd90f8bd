/** What a process with {@link MEMORY_PROBE} answers to the message `read`. */
export interface ProbeReading {
  readonly rssBytes: number;
  /** With what lies outside of the heap for its objects. */
  readonly heapBytes: number;
  /** Processor time of the process so far, before its garbage was collected for the reading, and after. */
  readonly cpuMsBefore: number;
  readonly cpuMsAfter: number;
}

// Collected more than once: what a finalizer lets go of is garbage only then.
const SCRIPT = `
const cpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
const rest = () => new Promise((resolve) => setTimeout(resolve, 200));
process.on("message", async (question) => {
  if (question !== "read") return;
  const cpuMsBefore = cpuMs();
  for (let round = 0; round < 4; round++) { gc(); await rest(); }
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send({ rssBytes: rss, heapBytes: heapUsed + external, cpuMsBefore, cpuMsAfter: cpuMs() });
});
process.channel.unref();`;

/** Arguments of Node that have a forked process collect its garbage and tell its memory when it is asked. */
export const MEMORY_PROBE: readonly string[] = [
  "--expose-gc",
  "--import",
  `data:text/javascript,${encodeURIComponent(SCRIPT)}`,
];
