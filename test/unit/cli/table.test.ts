import { expect, it } from "vitest";
import { formatTable } from "../../../src/cli/output/format.ts";

it("a table may have as many rows as an audit trail", () => {
  const rows = Array.from({ length: 300_000 }, (_, at) => at);
  const lines = formatTable([{ title: "N", of: String, align: "right" }], rows).split("\n");
  expect(lines).toHaveLength(300_001);
  expect(lines.slice(0, 2)).toEqual(["     N", "     0"]);
});
