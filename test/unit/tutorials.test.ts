import { existsSync } from "node:fs";
import path from "node:path";
import { expect, it } from "vitest";
import { ROOT, readSource, sourcesBelow } from "../support/repository/source-files.ts";
import { tutorialChanges, withChange } from "../support/repository/tutorial.ts";

const TUTORIALS = sourcesBelow(["docs/tutorials"], [".md"]).map((file) => file.path);

it.each(TUTORIALS)("the changes of %s fit the sources, one after the other", (tutorial) => {
  const changes = tutorialChanges(tutorial);
  const texts = new Map<string, string>();
  for (const change of changes) {
    const { file } = change;
    const text = texts.get(file) ?? (existsSync(path.join(ROOT, file)) ? readSource(file).text : undefined);
    texts.set(file, withChange(text, change));
  }
  expect(changes.length).toBeGreaterThan(5);
  expect([...texts.keys()].filter((file) => file.endsWith(".test.ts"))).toHaveLength(1);
});
