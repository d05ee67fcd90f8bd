import { readSource } from "./source-files.ts";

/** A command in a document, with its place. */
export interface DocumentedCommand {
  readonly document: string;
  /** The heading two levels above it. */
  readonly section: string;
  /** The text, with continued lines joined. */
  readonly text: string;
}

const PROGRAMS =
  /^(?:[A-Z_]+=\S+ )*(?:npm|npx|node|tss|psql|pg_dump|pg_restore|curl|openssl|promtool)(?=\s|$)/;
/** A fenced block, a heading, or inline code. */
const PARTS = /^```(\w*)\n([\s\S]*?)^```$|^## (.+)$|`([^`\n]+)`/gm;

/**
 * Returns the commands of a document in their order, each once per section: every line of its `sh` blocks, and every
 * text in other blocks and between backticks that begins with one of the programs.
 */
export function documentedCommands(document: string): DocumentedCommand[] {
  const found = new Map<string, DocumentedCommand>();
  let section = "";
  for (const [, language, block, heading, span] of readSource(document).text.matchAll(PARTS)) {
    section = heading ?? section;
    for (const text of linesOf(block ?? span ?? "")) {
      if (language !== "sh" && !PROGRAMS.test(text)) continue;
      found.set(`${section}\n${text}`, { document, section, text });
    }
  }
  return [...found.values()];
}

function linesOf(text: string): string[] {
  return text
    .replaceAll(/\s*\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
