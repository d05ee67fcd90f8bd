/**
 * Reads the part of Markdown that the runbook is written in: headings, paragraphs, fenced code, lists with `-`, tables,
 * and in a line code, bold text and links. Anything else stays a text.
 */
export function readMarkdown(text: string): readonly Block[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] ?? "";
    const heading = /^(#{1,6}) (.+)$/.exec(line);
    if (line.trim() === "") at++;
    else if (heading !== null) {
      blocks.push({ kind: "heading", level: heading[1]!.length, text: heading[2]! });
      at++;
    } else if (line.startsWith("```")) {
      const end = lines.findIndex((other, index) => index > at && other.startsWith("```"));
      const stop = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", text: lines.slice(at + 1, stop).join("\n") });
      at = stop + 1;
    } else {
      const count = lines.slice(at).findIndex((other) => endsParagraph(other));
      const block = lines.slice(at, count < 0 ? undefined : at + Math.max(1, count));
      blocks.push(blockOf(block));
      at += block.length;
    }
  }
  return blocks;
}

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly text: string }
  | { readonly kind: "code"; readonly text: string }
  | { readonly kind: "paragraph"; readonly spans: readonly Span[] }
  | { readonly kind: "list"; readonly items: readonly (readonly Span[])[] }
  | {
      readonly kind: "table";
      readonly titles: readonly (readonly Span[])[];
      readonly rows: readonly (readonly (readonly Span[])[])[];
    };

/** A part of a line. A link has its target as it is written. */
export type Span =
  | { readonly kind: "text" | "code" | "bold"; readonly text: string }
  | { readonly kind: "link"; readonly text: string; readonly target: string };

const endsParagraph = (line: string): boolean => line.trim() === "" || /^(?:```|#{1,6} )/.test(line);

function blockOf(lines: readonly string[]): Block {
  const [first = "", second = ""] = lines;
  if (first.startsWith("- ")) {
    const items = lines
      .join("\n")
      .split(/^- /m)
      .slice(1)
      .map((item) => readSpans(item.replaceAll(/\s*\n\s*/g, " ").trim()));
    return { kind: "list", items };
  }
  if (first.startsWith("|") && /^\|[-| :]+$/.test(second)) {
    const [titles = [], , ...rows] = lines.map(cellsOf);
    return { kind: "table", titles, rows };
  }
  return { kind: "paragraph", spans: readSpans(lines.join(" ")) };
}

function cellsOf(line: string): readonly (readonly Span[])[] {
  return line
    .replace(/^\||\|\s*$/g, "")
    .split("|")
    .map((cell) => readSpans(cell.trim()));
}

function readSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(SPAN)) {
    if (match.index > end) spans.push({ kind: "text", text: text.slice(end, match.index) });
    const [whole, code, bold, name, target] = match;
    if (code !== undefined) spans.push({ kind: "code", text: code });
    else if (bold !== undefined) spans.push({ kind: "bold", text: bold });
    else spans.push({ kind: "link", text: (name ?? "").replaceAll("`", ""), target: target ?? "" });
    end = match.index + whole.length;
  }
  if (end < text.length) spans.push({ kind: "text", text: text.slice(end) });
  return spans;
}

const SPAN = /`([^`]+)`|\*\*([^*]+)\*\*|\[([^\]]+)\]\(([^)\s]+)\)/g;
