import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT, readSource } from "../support/repository/source-files.ts";

const TEST = /`(test\/[^`]+)`(?:: ("[^"]+"(?:, "[^"]+")*))?/g;
const model = readSource("docs/threat-model.md").text;
const tests = readSource("docs/threat-tests.md").text;
const sections = tests.split(/^## /m).slice(1);
const rows = sections
  .filter((section) => section.includes("| Shown by |"))
  .flatMap((section) => section.split("\n").filter((line) => /^\| (?!Threat \|)/.test(line)));

it("each attack has a test, and every named test exists", () => {
  expect(rows.length).toBeGreaterThan(160);
  const shown = rows.map((row) => ({
    row,
    named: [...row.matchAll(TEST)].map(([, file = "", names = ""]) => ({
      file,
      names: [...names.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name),
    })),
  }));
  expect(shown.filter(({ named }) => named.length === 0)).toEqual([]);
  const missing = shown
    .flatMap(({ named }) => named)
    .filter(
      ({ file, names }) =>
        !existsSync(path.join(ROOT, file)) || names.some((name) => !namesOf(file).has(name)),
    );
  expect(missing).toEqual([]);
});

it("the attacks have the headings of the model", () => {
  const headings = [...model.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => heading);
  const listed = sections.map((section) => section.split("\n")[0] ?? "");
  expect(listed.length).toBeGreaterThan(10);
  expect(headings.filter((heading) => listed.includes(heading))).toEqual(listed);
});

/** The names of its tests. */
function namesOf(file: string): Set<string> {
  return new Set([...readSource(file).text.matchAll(/\(\s*"([^"]+)"/g)].map(([, name = ""]) => name));
}
