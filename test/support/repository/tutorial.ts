import { readSource } from "./source-files.ts";

/** One block of a tutorial: what it does to a file. */
export interface TutorialChange {
  /** From the repository's top folder. */
  readonly file: string;
  /** The lines that the file has; empty for a new file. */
  readonly find: string;
  readonly replace: string;
}

/**
 * Returns the changes of a tutorial, in order. A `diff` block changes the file that the text before it names last, as
 * `path/file.ts` between backticks.
 */
export function tutorialChanges(document: string): TutorialChange[] {
  const parts = readSource(document).text.split(/^```diff\n([\s\S]*?)^```$/m);
  let file = "";
  return parts.flatMap((part, index) => {
    if (index % 2 === 0) {
      file = [...part.matchAll(/`([\w./-]+\/[\w./-]+\.\w+)`/g)].at(-1)?.[1] ?? file;
      return [];
    }
    const lines = part.split("\n").slice(0, -1);
    const with_ = (mark: "+" | "-") =>
      lines
        .filter((line) => !line.startsWith(mark))
        .map((line) => `${line.slice(1)}\n`)
        .join("");
    return [{ file, find: with_("+"), replace: with_("-") }];
  });
}

/**
 * Returns a file's text after a change.
 * @param text undefined if there is no such file
 * @throws Error if the file does not have the lines exactly once, or if a new file exists
 */
export function withChange(text: string | undefined, { file, find, replace }: TutorialChange): string {
  if (find === "") {
    if (text !== undefined) throw new Error(`${file} exists already`);
    return replace;
  }
  const [before, after, ...others] = `\n${text ?? ""}`.split(`\n${find}`);
  if (before === undefined || after === undefined || others.length > 0)
    throw new Error(`${file} has ${others.length + (after === undefined ? 0 : 1)} times:\n${find}`);
  return `${before}\n${replace}${after}`.slice(1);
}
