/**
 * Warns about commits whose subject does not determine a version: `npm run check:commits -- main..HEAD`. It refuses
 * nothing, because such a commit lands and stays out of the changelog. `--title` checks the title of a pull request,
 * which becomes the subject of a squashed commit; `--annotate` prints the warnings in the form that GitHub shows on a
 * pull request.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { faultOfSubject } from "./release/fault-of-subject.ts";

const CONFIG = path.resolve(import.meta.dirname, "../release-please-config.json");

const { values, positionals } = parseArgs({
  options: { annotate: { type: "boolean", default: false }, title: { type: "string" } },
  allowPositionals: true,
});
const [range = "main..HEAD"] = positionals;
const { "changelog-sections": sections } = JSON.parse(readFileSync(CONFIG, "utf8")) as {
  "changelog-sections": { type: string }[];
};
const kinds = sections.map(({ type }) => type);
const log = execFileSync("git", ["log", "--no-merges", "--format=%s", "--end-of-options", range]).toString();
for (const subject of [...(values.title === undefined ? [] : [values.title]), ...log.split("\n")]) {
  const fault = subject === "" ? undefined : faultOfSubject(subject, kinds);
  // A title is untrusted text: it must not begin a line, where GitHub looks for commands.
  const shown = JSON.stringify(subject);
  if (fault !== undefined) console.log(`${values.annotate ? "::warning::" : "warning: "}${shown}: ${fault}`);
}
