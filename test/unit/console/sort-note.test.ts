import { describe, expect, it } from "vitest";
import { sortedText } from "../../../src/console/design/table/sort-note.tsx";

describe("the note above a sorted list", () => {
  it("says that all rows were sorted, and how many are shown", () => {
    expect(sortedText("Name", 180)).toBe("Sorted by “Name” among all 180 rows.");
    expect(sortedText("Name", 3_000)).toBe(
      "Sorted by “Name” among all 3,000 rows. The table shows the first 200; the CSV has all.",
    );
  });

  it("does not say that all rows were sorted if the list may have more than it read", () => {
    expect(sortedText("Name", 10_000)).toContain("among the first 10,000 rows");
  });
});
