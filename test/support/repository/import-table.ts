import { readSource } from "./source-files.ts";

/** The entry of a room that may import every other. */
export const ANYTHING = "anything";

/**
 * The rooms that each room imports: the table of docs/architecture.md, from the lowest floor up. A room is a folder of
 * `src`, or a part of `gen`.
 */
export const MAY_IMPORT: ReadonlyMap<string, readonly string[] | typeof ANYTHING> = readImportTable();

/**
 * The room of a file: the longest entry of the table that its path below `src` begins with. `src/service/chain/reader.ts`
 * is in `service/chain`, and `gen/proto/tss/v1/x_pb.ts` in `gen/tss`.
 */
export function roomOf(file: string): string {
  if (file.startsWith("gen/"))
    return file
      .replace(/^gen\/proto\//, "gen/")
      .split("/")
      .slice(0, 2)
      .join("/");
  const rooms = [...MAY_IMPORT.keys()].filter((room) => file.startsWith(`src/${room}/`));
  return rooms.reduce((longest, room) => (room.length > longest.length ? room : longest), "");
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
