import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { Instrumenter } from "@stryker-mutator/instrumenter";
import { EXPLAINED, explains } from "./explained.ts";
import { excludedMutators, isIgnored, type SyntaxNode } from "./ignored.ts";
import { editSql, markValues } from "./sql-edits.ts";

/** A change of one place in a room's sources, which the number `id` switches on in the instrumented sources. */
export interface RoomMutant {
  readonly id: string;
  /** The same for the same change, whatever else changes in the file. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly mutator: string;
  readonly original: string;
  readonly replacement: string;
  readonly range: Range;
  /** The text of a template of SQL before and after, with its values marked. */
  readonly sql?: { readonly before: string; readonly after: string };
  /** Why no test can kill it. */
  readonly explanation?: string;
}

interface Range {
  readonly start: { readonly line: number; readonly column: number };
  readonly end: { readonly line: number; readonly column: number };
}

/** The mutants of a room, and its files with the switches for them. */
export interface RoomMutants {
  readonly mutants: readonly RoomMutant[];
  readonly files: readonly { readonly name: string; readonly content: string }[];
}

/** Makes the mutants of files, which are named from the root. */
export async function makeMutants(
  root: string,
  room: string,
  files: readonly string[],
): Promise<RoomMutants> {
  const mutants: RoomMutant[] = [];
  const instrumented: { name: string; content: string }[] = [];
  const seen = new Map<string, number>();
  const add = (mutant: Omit<RoomMutant, "key" | "id">, id: string): void => {
    const same = [mutant.file, mutant.mutator, mutant.original, mutant.replacement, mutant.sql?.before];
    const name = same.join("\n");
    const occurrence = seen.get(name) ?? 0;
    seen.set(name, occurrence + 1);
    const key = createHash("sha256").update(`${name}\n${occurrence}`).digest("hex").slice(0, 16);
    const source = sources.get(mutant.file)!;
    const explanation = EXPLAINED.find((entry) => explains(entry, mutant, source))?.because;
    mutants.push({ ...mutant, id, key, ...(explanation === undefined ? {} : { explanation }) });
  };
  const sources = new Map(files.map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
  for (const [file, content] of sources) {
    const templates = new Map<string, number>();
    const prefix = `${mutants.length}.`;
    const result = await new Instrumenter(SILENT).instrument(
      [{ name: file, mutate: true, content: hideConst(content) }],
      {
        plugins: null,
        excludedMutations: excludedMutators(room),
        // The instrumenter shows each node to an ignorer, which is also how the templates of SQL are found.
        ignorers: [
          {
            shouldIgnore(nodePath) {
              const { node, parent } = nodePath as { node: SyntaxNode; parent?: SyntaxNode };
              if (node.type === "TaggedTemplateExpression" && node.tag?.name === "sql") {
                const { quasis } = node.quasi!;
                templates.set(markValues(quasis.map(({ value }) => value.cooked)), quasis[0]!.loc.start.line);
              }
              return isIgnored(node, parent);
            },
          },
        ],
      },
    );
    // The numbers of the switches begin again in each file.
    const text = result.files[0]!.content.replaceAll(
      /\b(stryMutAct_9fa48|stryCov_9fa48)\(("\d+"(?:, "\d+")*)\)/g,
      (_, name: string, ids: string) =>
        `${name}(${ids.replaceAll('"', "").replace(/\d+/g, `"${prefix}$&"`)})`,
    );
    instrumented.push({ name: file, content: text });
    const lines = content.split("\n");
    for (const mutant of result.mutants) {
      if (mutant.status === "Ignored") continue;
      const { start, end } = mutant.location;
      add(
        {
          file,
          line: start.line + 1,
          mutator: mutant.mutatorName,
          original: cut(lines, mutant.location),
          replacement: mutant.replacement,
          range: {
            start: { line: start.line + 1, column: start.column + 1 },
            end: { line: end.line + 1, column: end.column + 1 },
          },
        },
        `${prefix}${mutant.id}`,
      );
    }
    let number = 0;
    for (const [before, first] of templates)
      for (const edit of editSql(before)) {
        const line = first + before.slice(0, edit.start).split("\n").length - 1;
        const range = { start: { line, column: 1 }, end: { line, column: lines[line - 1]!.length + 1 } };
        add(
          {
            file,
            line,
            mutator: "Sql",
            original: edit.original,
            replacement: edit.replacement,
            range,
            sql: { before, after: edit.text },
          },
          `${prefix}sql${number++}`,
        );
      }
  }
  return { mutants, files: instrumented };
}

/** The instrumenter takes an expression with `as const` for a type. Keeps all positions. */
function hideConst(content: string): string {
  return content.replaceAll(/ as const\b/g, "         ");
}

function cut(lines: readonly string[], { start, end }: Range): string {
  const found = lines.slice(start.line, end.line + 1);
  found[found.length - 1] = found.at(-1)!.slice(0, end.column);
  found[0] = found[0]!.slice(start.column);
  return found.join("\n");
}

const SILENT = {
  isTraceEnabled: () => false,
  isDebugEnabled: () => false,
  isInfoEnabled: () => false,
  isWarnEnabled: () => false,
  isErrorEnabled: () => false,
  isFatalEnabled: () => false,
  trace() {},
  debug() {},
  info() {},
  warn() {},
  error() {},
  fatal() {},
};
