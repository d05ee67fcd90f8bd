import { describe, expect, it } from "vitest";
import { EXPLAINED } from "../../../tools/mutate/rooms/explained.ts";
import { filesOf, ROOMS, testsOf } from "../../../tools/mutate/rooms/rooms.ts";
import { scoreOf, wasLate } from "../../../tools/mutate/rooms/score.ts";
import { editSql, markValues, splitValues } from "../../../tools/mutate/rooms/sql-edits.ts";
import { readSource } from "../../support/repository/source-files.ts";

describe("the mutants of a statement of SQL", () => {
  const edits = (text: string): string[] => editSql(text).map((edit) => edit.text);

  it("make each condition true, and keep its values apart", () => {
    expect(edits("SELECT 1 FROM t WHERE a = §0§ AND (b = 'x AND y' OR c)")).toEqual([
      "SELECT 1 FROM t WHERE true AND (b = 'x AND y' OR c)",
      "SELECT 1 FROM t WHERE a = §0§ AND true",
      "SELECT 1 FROM t WHERE a = §0§ AND (b = 'x AND y' AND c)",
    ]);
    expect(splitValues("§1§ AND true")).toEqual({ strings: ["", " AND true"], values: [1] });
    expect(markValues(["a", "b", "c"])).toBe("a§0§b§1§c");
  });

  it("leave out assignments, locks, orders and limits, and move bounds", () => {
    expect(edits("UPDATE t SET a = greatest(a, 1), b = 2 RETURNING id")).toEqual([
      "UPDATE t SET   b = 2 RETURNING id",
      "UPDATE t SET a = greatest(a, 1)  RETURNING id",
      "UPDATE t SET a = least(a, 1), b = 2 RETURNING id",
    ]);
    expect(edits("SELECT a FROM t ORDER BY a LIMIT 1 FOR UPDATE SKIP LOCKED")).toEqual([
      "SELECT a FROM t ORDER BY a LIMIT 1 ",
      "SELECT a FROM t ORDER BY a LIMIT 1 FOR UPDATE",
      "SELECT a FROM t LIMIT 1 FOR UPDATE SKIP LOCKED",
      "SELECT a FROM t ORDER BY a  FOR UPDATE SKIP LOCKED",
    ]);
    expect(edits("SELECT a - 1 >= b")).toEqual(["SELECT a - 1 > b", "SELECT a + 1 >= b"]);
  });
});

describe("the rooms that are mutated", () => {
  it.each(ROOMS)("have files, and tests near them: %s", (room) => {
    expect(filesOf(room)).not.toEqual([]);
    expect(testsOf(room)).not.toEqual([]);
  });

  it.each(EXPLAINED)("explain a mutant by a text that still occurs once: $file: $at", ({ file, at }) => {
    expect(readSource(file).text.split(at)).toHaveLength(2);
  });

  it("have a score with the range that a sample leaves open", () => {
    const fates = Array.from({ length: 10 }, (_, index) => ({
      key: String(index),
      status: index < 8 ? ("killed" as const) : ("survived" as const),
    }));
    const { share, from, to } = scoreOf(fates);
    expect([share, from.toFixed(2), to.toFixed(2)]).toEqual([0.8, "0.49", "0.94"]);
  });

  it("name the mutants that only a time limit killed", () => {
    const killedBy = (by: string) => wasLate({ key: "1", status: "killed", by });
    const file = "test/unit/a.test.ts";
    expect(killedBy(`${file}: never ending`)).toBe(true);
    expect(killedBy(`${file}: a call: Test timed out in 30000ms.\nIf this is`)).toBe(true);
    expect(killedBy(`${file}: a call: expected 1 to be 2`)).toBe(false);
    expect(wasLate({ key: "1", status: "survived" })).toBe(false);
  });
});
