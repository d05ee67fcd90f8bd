import path from "node:path";
import { ROOT, readSource } from "./source-files.ts";

/** The package's entries by the names that users import, each with the source that it is compiled from. */
export function packagePaths(): Record<string, [string]> {
  const { exports } = JSON.parse(readSource("package.json").text) as { exports: Record<string, string> };
  const entries = Object.entries(exports).filter(([, target]) => target.startsWith("./dist/"));
  return Object.fromEntries(
    entries.map(([entry, target]) => [
      `threshold-signing-service/${entry.slice(2)}`,
      [path.join(ROOT, target.replace("./dist/", "").replace(/\.js$/, ".ts"))],
    ]),
  );
}
