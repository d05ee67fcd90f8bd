import { withoutComments } from "./scan-source.ts";
import { readSource, sourcesBelow } from "./source-files.ts";

/** A change of a row's state: `prepared --> queued`. */
export type Transition = `${string} --> ${string}`;

/** The states that the database allows in each table, from the last constraint that its migrations set. */
export function constrainedStates(): Map<string, string[]> {
  const constraint = /ADD CONSTRAINT "(\w+)_(?:state|status)" CHECK \(\s*"(?:state|status)" IN \(([^)]*)\)/g;
  const found = sourcesBelow(["prisma/migrations"], [".sql"]).flatMap(({ text }) =>
    [...text.matchAll(constraint)].map(([, table = "", list = ""]): [string, string[]] => [
      table,
      namesIn(list),
    ]),
  );
  return new Map(found);
}

/** The transitions in the comment of the presigns' moves, which has a table of them. */
export function documentedMoves(states: readonly string[]): Transition[] {
  const owner = sourcesBelow(["src"], [".ts"]).find(({ text }) => text.includes("| move | from | to |"));
  const rows = [...(owner?.text ?? "").matchAll(/^ \* \| \w+ \| ([\w, ]+) \| (\w+) \|/gm)].slice(1);
  return rows.flatMap(([, from = "", to = ""]) =>
    (from === "any" ? states : from.split(", "))
      .filter((state) => state !== to)
      .map((state): Transition => `${state} --> ${to}`),
  );
}

/**
 * The transitions that statements of the sources make, by table: an update sets a literal state, and its condition, or
 * the query that it takes its rows from, names the state before.
 */
export function writtenTransitions(): Map<string, Set<Transition>> {
  const found = new Map<string, Set<Transition>>();
  for (const file of sourcesBelow(["src"], [".ts"])) {
    const text = withoutComments(file);
    for (const update of text.matchAll(UPDATE)) {
      const [, table = "", column = "", to = ""] = update;
      // The queries before it in its own statement, which a function contains.
      const start = Math.max(
        ...["WITH ", "function "].map((word) => text.lastIndexOf(word, update.index)),
        0,
      );
      const before = text.slice(start, update.index).split("), ");
      const rest =
        /^[\s\S]*?(?=RETURNING|\n\)|`|$)/.exec(text.slice(update.index + update[0].length))?.[0] ?? "";
      const sources = before.filter((part) => new RegExp(`FROM ${table}\\b`).test(part));
      const here = comparedWith(rest, column);
      const from = here.length > 0 ? here : sources.flatMap((part) => comparedWith(part, column));
      const transitions = found.get(table) ?? new Set();
      for (const state of from) transitions.add(`${state} --> ${to}`);
      found.set(table, transitions);
    }
  }
  return found;
}

/** The names of an enum's values in the contract, without the unspecified one. */
export function contractStates(file: string, message: string, name: string): string[] {
  const { text } = readSource(`proto/tss/v1/${file}.proto`);
  const body = new RegExp(`^message ${message} \\{[\\s\\S]*?^  enum ${name} \\{([\\s\\S]*?)^  \\}`, "m").exec(
    text,
  );
  return [...(body?.[1] ?? "").matchAll(/^ {4}(\w+) = [1-9]\d*;/gm)].map(([, value = ""]) => value);
}

const UPDATE = /\bUPDATE (\w+)(?: \w)? SET (state|status) = '(\w+)'/g;

function comparedWith(text: string, column: string): string[] {
  const compared = new RegExp(`\\b${column} (?:= ('\\w+')|IN \\(([^)]*)\\))`, "g");
  return [...text.matchAll(compared)].flatMap(([, one, list]) => namesIn(one ?? list ?? ""));
}

function namesIn(list: string): string[] {
  return [...list.matchAll(/'(\w+)'/g)].map(([, name = ""]) => name);
}
