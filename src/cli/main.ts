#!/usr/bin/env node
/** `tss`, the command for the service, its operators, the localnet and the demo. */
import { runTss } from "./run-tss.ts";

// A reader such as `head` may close the output early.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit();
});
// A checkout has no command `tss`, so hints name the script that runs it: `tools/tss.mjs`, or this file uncompiled.
const isCheckout = /\.(ts|mjs)$/.test(process.argv[1] ?? "");
const typed = (text: string) => (isCheckout ? text.replaceAll("`tss ", "`npm run tss -- ") : text);
process.exitCode = await runTss(process.argv.slice(2), {
  print: (line) => console.log(/^[[{]/.test(line) ? line : typed(line)),
  note: (line) => console.error(typed(line)),
});
