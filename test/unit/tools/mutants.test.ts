import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { mutate } from "../../../tools/mutate/mutant.ts";
import { MUTANTS } from "../../../tools/mutate/mutants.ts";
import { ROOT, readSource } from "../../support/repository/source-files.ts";

describe("the list of mutants", () => {
  it.each(MUTANTS)("still matches its line and its tests: $file: $name", (mutant) => {
    const { text } = readSource(mutant.file);
    expect(mutate(text, mutant)).not.toBe(text);
    expect(mutant.tests.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    expect(mutant.tests.length).toBeGreaterThan(0);
  });

  it("names each mutant once", () => {
    const names = MUTANTS.map(({ file, name }) => `${file} ${name}`);
    expect(new Set(names).size).toBe(names.length);
  });
});
