import { command } from "../command.ts";
import { flag } from "../option.ts";

/** `tss serve`. */
export const serveCommand = command({
  summary: "run the service; with no configuration, on an embedded database and localnet",
  options: {
    afterRestore: flag("the database is an older copy, and nothing else uses it or the hot wallet"),
  },
  run: async (values) => (await import("../../main.ts")).serve(values),
});
