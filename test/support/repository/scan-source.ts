import type { SourceFile } from "./source-files.ts";

/** Returns the exports of a file without a doc comment. */
export function undocumentedExports({ path: file, text }: SourceFile): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const name = EXPORT.exec(line)?.[1];
    const before = lines[index - 1] ?? "";
    const isOverload = name !== undefined && new RegExp(`^export .*\\b${name}\\b.*;$`).test(before);
    return name === undefined || before.endsWith("*/") || isOverload ? [] : [`${file}: ${name}`];
  });
}

/** Returns the lines that match, each with its place. */
export function linesWith(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path: file, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1}: ${line.trim()}`] : [])),
  );
}

/** Returns the file without its comments. */
export const asCode = (file: SourceFile): SourceFile => ({ path: file.path, text: withoutComments(file) });

/** Returns the text of a file without its comments. */
export const withoutComments = ({ text }: SourceFile): string =>
  text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");

/** Drops the texts that replace the matches of a regular expression, where `$1` is a group of the match. */
export const withoutReplacements = (text: string): string => text.replace(/\/[dgimsuvy]*,\s*"[^"\n]*"/g, "/");

const EXPORT =
  /^export (?:default |async |abstract |declare )*(?:function\*?|const|let|class|interface|type) (\w+)/;
