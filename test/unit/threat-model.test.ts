import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT, readSource } from "../support/repository/source-files.ts";

const rows = readSource("docs/threat-model.md")
  .text.split("\n")
  .filter((line) => line.startsWith("| ") && !line.includes("Shown by"));

it("the threat model names existing tests", () => {
  const shown = rows.flatMap((row) => [...row.matchAll(/`(test\/[^`]+)`: "([^"]+)"/g)]);
  expect(shown.length).toBeGreaterThan(20);
  const missing = shown.filter(
    ([, file = "", name = ""]) => !existsSync(path.join(ROOT, file)) || !namesOf(file).has(name),
  );
  expect(missing.map(([text]) => text)).toEqual([]);
});

/** The names of its tests. */
function namesOf(file: string): Set<string> {
  return new Set([...readSource(file).text.matchAll(/\(\s*"([^"]+)"/g)].map(([, name = ""]) => name));
}
