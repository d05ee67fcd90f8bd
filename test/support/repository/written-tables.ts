import { readSource } from "./source-files.ts";

/** The tables that a text writes, in SQL or through Prisma. An update of `project` writes its money. */
export function tablesWrittenIn(text: string): string[] {
  const writes = [
    ...[...text.matchAll(WRITE)].map(([, verb = "", table = ""]) => ({
      table,
      updates: verb === "UPDATE",
    })),
    ...[...text.matchAll(PRISMA_WRITE)].map(([, model = "", verb = ""]) => ({
      table: TABLE_OF_MODEL.get(model) ?? model,
      updates: verb === "update" || verb === "upsert",
    })),
  ];
  return writes.map(({ table, updates }) => (table === "project" && updates ? "money of project" : table));
}

/** A statement that writes, in the capitals that SQL has here; `FOR UPDATE` and `DO UPDATE` are followed by no table. */
const WRITE = /\b(INSERT INTO|UPDATE|DELETE FROM) (?!SET\b|OF\b|SKIP\b)([a-z_]+)\b/g;

/** A write through the client of Prisma, such as `prisma.deposit.update(`. */
const PRISMA_WRITE =
  /\bprisma\s*\.\s*(\w+)\s*\.\s*(create|update|upsert|delete)(?:Many)?(?:AndReturn)?\s*\(/g;

/** The tables of Prisma's models, by the names that the client has for them. */
const TABLE_OF_MODEL: ReadonlyMap<string, string> = new Map(
  [...readSource("prisma/schema.prisma").text.matchAll(/^model (\w)(\w*) \{[^}]*?@@map\("(\w+)"\)/gm)].map(
    ([, initial = "", rest = "", table = ""]) => [initial.toLowerCase() + rest, table],
  ),
);
