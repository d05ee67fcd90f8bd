import { readSource } from "./source-files.ts";

/** A command of a document, and where it stands. */
export interface DocumentedCommand {
  readonly document: string;
  /** As it is written, continued lines joined. */
  readonly text: string;
}

const PROGRAMS = /^(?:[A-Z_]+=\S+ )*(?:npm|npx|tss|psql|pg_dump|pg_restore|curl|openssl|promtool)\s/;

/** The commands of a document, in fenced blocks and between backticks, in the order in which they stand, each once. */
export function documentedCommands(document: string): DocumentedCommand[] {
  const { text } = readSource(document);
  const fenced = [...text.matchAll(/^```(?:sh|bash)?\n([\s\S]*?)^```$/gm)];
  const blocks = fenced.map(({ index, 1: block = "" }) => ({
    index,
    commands: block.replaceAll(/\s*\\\n\s*/g, " ").split("\n"),
  }));
  const spans = [
    ...text.replaceAll(/^```[\s\S]*?^```$/gm, (block) => " ".repeat(block.length)).matchAll(/`([^`\n]+)`/g),
  ];
  const found = [...blocks, ...spans.map(({ index, 1: span = "" }) => ({ index, commands: [span] }))].sort(
    (a, b) => a.index - b.index,
  );
  const commands = found.flatMap((one) => one.commands.map((line) => line.trim()));
  return [...new Set(commands.filter((line) => PROGRAMS.test(line)))].map((line) => ({
    document,
    text: line,
  }));
}
