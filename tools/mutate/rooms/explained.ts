import type { RoomMutant } from "./make-mutants.ts";

/** A mutant that no test can kill, or that decides nothing. */
export interface Explained {
  readonly file: string;
  /** Text of the source that occurs once in the file and contains the mutated place's line. */
  readonly at: string;
  /** What the mutant puts there; every mutant of the place if it is left out. */
  readonly replacement?: string;
  readonly because: string;
}

/** The mutants that no test can kill, by file. */
export const EXPLAINED: readonly Explained[] = [
  {
    file: "src/service/signing/retention-loop.ts",
    at: "ORDER BY r.updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED",
    replacement: "",
    because: "replicas that empty the same rows write the same",
  },
  {
    file: "src/service/signing/retention-loop.ts",
    at: "  ORDER BY updated_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED",
    replacement: "",
    because: "a row that two replicas delete is deleted once",
  },
  {
    file: "src/service/signing/lost-sign-requests.ts",
    at: "FROM sign_request WHERE id = ${id} AND status = 'prepared' FOR UPDATE",
    replacement: "",
    because: "a reconciliation runs beside no other process",
  },
  {
    file: "src/service/signing/lost-sign-requests.ts",
    at: "WHERE presign_id = ${presignId} AND status = 'prepared' FOR UPDATE",
    replacement: "",
    because: "a reconciliation runs beside no other process",
  },
  {
    file: "src/service/ledger/verify-ledger.ts",
    at: "CASE WHEN state = 'credited' THEN value_micro_usd",
    replacement: "true",
    because: "the table refuses a waiting deposit with a value",
  },
  {
    file: "src/service/presigns/read-demand.ts",
    at: "FROM (SELECT * FROM presign WHERE network = ${network} AND ready_at IS NOT NULL",
    replacement: "true",
    because: "the rows are grouped by their own network; the condition bounds what is read",
  },
];

/** Returns whether an entry is about a mutant of a source. */
export function explains(
  entry: Explained,
  mutant: Pick<RoomMutant, "file" | "line" | "replacement">,
  source: string,
): boolean {
  if (entry.file !== mutant.file) return false;
  if (entry.replacement !== undefined && entry.replacement !== mutant.replacement) return false;
  const start = source.indexOf(entry.at);
  const first = source.slice(0, start).split("\n").length;
  return start >= 0 && mutant.line >= first && mutant.line < first + entry.at.split("\n").length;
}
