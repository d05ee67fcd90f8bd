import { command } from "../command-line/command.ts";
import { flag } from "../command-line/option.ts";

export const serveCommand = command({
  summary: "run the service; by default on an embedded database and a local network",
  options: {
    afterRestore: flag(
      "the database was restored from a backup, and no other process uses it or the hot wallet",
    ),
  },
  run: async (values) => (await import("../../service/app/main.ts")).serve(values),
});
