import { readSource } from "./source-files.ts";

/** The entry of a room that may import every other. */
export const ANYTHING = "anything";

/**
 * The rooms that each room imports: the table of docs/architecture.md, from the lowest floor up. A room is a folder of
 * `src`, or a part of `gen`.
 */
export const MAY_IMPORT: ReadonlyMap<string, readonly string[] | typeof ANYTHING> = readImportTable();

/** `src/chain/reader.ts` is in `chain`, `src/app.ts` in `app`, `gen/proto/tss/v1/x_pb.ts` in `gen/tss`. */
export function roomOf(file: string): string {
  if (file.startsWith("gen/"))
    return file
      .replace(/^gen\/proto\//, "gen/")
      .split("/")
      .slice(0, 2)
      .join("/");
  return file.split("/")[1]?.replace(/\.ts$/, "") ?? "";
}

/** Whether the table lets a file import another. */
export function mayImport(from: string, to: string): boolean {
  const room = roomOf(from);
  const allowed = MAY_IMPORT.get(room);
  return allowed === ANYTHING || room === roomOf(to) || (allowed?.includes(roomOf(to)) ?? false);
}

/** Reads the rows `| `room` | `room`, `room` |` below "Who may import whom". */
function readImportTable(): Map<string, readonly string[] | typeof ANYTHING> {
  const [, section = ""] = readSource("docs/architecture.md").text.split("## Who may import whom");
  const rows = [...section.matchAll(/^\| (`.+?) \| (.+) \|$/gm)];
  return new Map(
    rows.flatMap(([, rooms = "", imports = ""]) => {
      const allowed = imports === ANYTHING ? ANYTHING : namesIn(imports);
      return namesIn(rooms).map((room) => [room, allowed] as const);
    }),
  );
}

function namesIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, name = ""]) => name);
}
