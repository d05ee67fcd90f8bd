/** The reply of a process with {@link MEMORY_PROBE} to the message `read`. */
export interface ProbeReading {
  readonly rssBytes: number;
  /** Includes objects' memory outside the heap. */
  readonly heapBytes: number;
  /** Processor time of the process so far, before and after the garbage collection of this reading. */
  readonly cpuMsBefore: number;
  readonly cpuMsAfter: number;
}

// Collects several times, because finalizers release more garbage.
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

/** Node arguments that make a forked process collect its garbage and report its memory on request. */
export const MEMORY_PROBE: readonly string[] = [
  "--expose-gc",
  "--import",
  `data:text/javascript,${encodeURIComponent(SCRIPT)}`,
];
