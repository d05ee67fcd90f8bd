import path from "node:path";
import { ROOT, readSource } from "./source-files.ts";

const SERVER_ENTRIES = ["./server", "./localnet"];

/** The packages' entries by the names that users import, the service's and the client's, each with the source that it is compiled from. */
export function packagePaths(): Record<string, [string]> {
  const { exports } = JSON.parse(readSource("package.json").text) as { exports: Record<string, string> };
  const entries = Object.entries(exports).filter(([, target]) => target.startsWith("./dist/"));
  return Object.fromEntries(
    entries.flatMap(([entry, target]): [string, [string]][] => {
      const source: [string] = [path.join(ROOT, target.replace("./dist/", "").replace(/\.js$/, ".ts"))];
      // The client's package has the same entries, except for those of the server.
      const client = entry === "./sdk" ? "" : entry.slice(1);
      return [
        [`threshold-signing-service${entry.slice(1)}`, source],
        ...(SERVER_ENTRIES.includes(entry)
          ? []
          : [[`threshold-signing-client${client}`, source] satisfies [string, [string]]]),
      ];
    }),
  );
}
