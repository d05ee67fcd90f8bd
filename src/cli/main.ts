#!/usr/bin/env node
/** `tss`, the command for the service, its operators, the localnet and the demo. */
import { runTss } from "./run-tss.ts";

// A reader such as `head` may close the output early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
process.exitCode = await runTss(process.argv.slice(2), {
  print: (line) => console.log(line),
  note: (line) => console.error(line),
});
