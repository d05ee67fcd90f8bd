import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { readMarkdown, type Span } from "../../../src/console/format/markdown.ts";

const read = (file: string): string => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");

it("reads headings, paragraphs, code, lists, tables, and what a line has", () => {
  const text =
    "# Book\n\nSee `a` and **b**,\nor [c](#d).\n\n```sh\nls - # no heading\n```\n\n- one\n  more\n- two";
  expect(readMarkdown(`${text}\n\n| A | B |\n|---|---|\n| \`x\` | y |\n`)).toEqual([
    { kind: "heading", level: 1, text: "Book" },
    {
      kind: "paragraph",
      spans: [
        { kind: "text", text: "See " },
        { kind: "code", text: "a" },
        { kind: "text", text: " and " },
        { kind: "bold", text: "b" },
        { kind: "text", text: ", or " },
        { kind: "link", text: "c", target: "#d" },
        { kind: "text", text: "." },
      ],
    },
    { kind: "code", text: "ls - # no heading" },
    { kind: "list", items: [[{ kind: "text", text: "one more" }], [{ kind: "text", text: "two" }]] },
    {
      kind: "table",
      titles: [[{ kind: "text", text: "A" }], [{ kind: "text", text: "B" }]],
      rows: [[[{ kind: "code", text: "x" }], [{ kind: "text", text: "y" }]]],
    },
  ]);
});

it("leaves no mark-up of the runbook as a text", () => {
  const texts = (spans: readonly Span[]) => spans.flatMap((span) => (span.kind === "text" ? span.text : []));
  const left = readMarkdown(read("docs/runbook.md")).flatMap((block) => {
    if (block.kind === "paragraph") return texts(block.spans);
    if (block.kind === "list") return block.items.flatMap(texts);
    return block.kind === "table" ? block.rows.flat().flatMap(texts) : [];
  });
  expect(left.length).toBeGreaterThan(100);
  expect(left.filter((text) => /[`|]|\*\*|\]\(|^#/.test(text))).toEqual([]);
});

it("has an entry for everything that the overview sends an operator to", () => {
  const titles = readMarkdown(read("docs/runbook.md")).flatMap((block) =>
    block.kind === "heading" && block.level === 2 ? [block.text] : [],
  );
  const concerns = read("src/console/operator/overview/concerns.ts");
  const named = [...concerns.matchAll(/runbook: "(\w+)"|, "(\w+)"\),/g)].map(
    ([, one, other]) => one ?? other,
  );
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !titles.includes(name ?? ""))).toEqual([]);
});
