import sql from "sql-template-tag";
import type { AuditEntry } from "../../protocol/seals/audit-entry.ts";
import type { AuditSeal } from "../../protocol/seals/audit-seal.ts";
import { GENESIS_HASH } from "../../protocol/seals/merkle-tree.ts";
import { bigint, bytea, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import { MONEY_OF_EVENT } from "./audit-event.ts";

/** One line of an export: the head, then each seal followed by its entries, then the end. */
export type ExportLine =
  | { readonly kind: "head"; readonly previousChainHash: Uint8Array; readonly format?: ExportFormat }
  | { readonly kind: "seal"; readonly seal: AuditSeal }
  | { readonly kind: "entry"; readonly entry: ExportedEntry }
  | { readonly kind: "end"; readonly sealCount: bigint; readonly entryCount: bigint };

/** An entry of an export, with the hashes that were stored when it was sealed. */
export interface ExportedEntry extends AuditEntry {
  readonly leafHash: Uint8Array;
  readonly chainHash: Uint8Array;
}

/** The format that a head names. Version 1 has no ledger entries. Default: version 2. */
type ExportFormat = "tss-audit-export-v1" | "tss-audit-export-v2";

/** Returns the bytes of a line: compact JSON with the keys in this order, in UTF-8, and a line feed. */
export function encodeLine(line: ExportLine): Buffer {
  return Buffer.from(`${JSON.stringify(plainLine(line))}\n`, "utf8");
}

/**
 * Parses the bytes of a line, including the line feed. Returns undefined unless they are exactly those that
 * {@link encodeLine} writes, so that no bit of an export can change undetected.
 */
export function decodeLine(bytes: Uint8Array): ExportLine | undefined {
  let line: ExportLine;
  try {
    line = readLine(JSON.parse(Buffer.from(bytes).toString("utf8")) as Fields);
  } catch {
    return undefined;
  }
  return encodeLine(line).equals(bytes) ? line : undefined;
}

function plainLine(line: ExportLine): object {
  switch (line.kind) {
    case "head":
      return {
        export: {
          format: line.format ?? "tss-audit-export-v2",
          previousChainHash: hex(line.previousChainHash),
        },
      };
    case "seal":
      return { seal: plainSeal(line.seal) };
    case "entry":
      return { entry: plainEntry(line.entry) };
    case "end":
      return { end: { seals: String(line.sealCount), entries: String(line.entryCount) } };
  }
}

function plainSeal(seal: AuditSeal): object {
  return {
    number: String(seal.number),
    firstSequence: String(seal.firstSequence),
    lastSequence: String(seal.lastSequence),
    createTime: seal.createdAt.toISOString(),
    merkleRoot: hex(seal.merkleRoot),
    chainHash: hex(seal.chainHash),
    previousSealHash: hex(seal.previousSealHash),
    sealHash: hex(seal.sealHash),
    publicKey: seal.publicKey && hex(seal.publicKey),
    signature: seal.signature && hex(seal.signature),
  };
}

function plainEntry(entry: ExportedEntry): object {
  return {
    sequence: String(entry.sequence),
    auditEventId: String(entry.auditEventId),
    createTime: entry.createdAt.toISOString(),
    actor: entry.actor,
    action: entry.action,
    subject: entry.subject,
    projectId: entry.projectId,
    requestId: entry.requestId,
    address: entry.address,
    // JSON has no key for an undefined value.
    ledgerEntryId: entry.ledgerEntryId ?? undefined,
    amountMicroUsd: entry.amountMicroUsd?.toString(),
    leafHash: hex(entry.leafHash),
    chainHash: hex(entry.chainHash),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Throws if the value is not a line. */
function readLine(json: Fields): ExportLine {
  const [[name, value] = []] = Object.entries(json);
  const fields = value as Fields;
  switch (name) {
    case "export":
      return {
        kind: "head",
        previousChainHash: bytesOf(fields["previousChainHash"], 32),
        format: formatOf(fields["format"]),
      };
    case "seal":
      return { kind: "seal", seal: readSeal(fields) };
    case "entry":
      return { kind: "entry", entry: readEntry(fields) };
    case "end":
      return {
        kind: "end",
        sealCount: countOf(fields["seals"]),
        entryCount: countOf(fields["entries"]),
      };
    default:
      throw new TypeError("there is no such line");
  }
}

function readSeal(fields: Fields): AuditSeal {
  const [publicKey, signature] = [fields["publicKey"], fields["signature"]];
  if ((publicKey === null) !== (signature === null)) throw new TypeError("half a signature");
  return {
    number: countOf(fields["number"]),
    firstSequence: countOf(fields["firstSequence"]),
    lastSequence: countOf(fields["lastSequence"]),
    createdAt: timeOf(fields["createTime"]),
    merkleRoot: bytesOf(fields["merkleRoot"], 32),
    chainHash: bytesOf(fields["chainHash"], 32),
    previousSealHash: bytesOf(fields["previousSealHash"], 32),
    sealHash: bytesOf(fields["sealHash"], 32),
    publicKey: publicKey === null ? null : bytesOf(publicKey, 32),
    signature: signature === null ? null : bytesOf(signature, 64),
  };
}

function readEntry(fields: Fields): ExportedEntry {
  return {
    sequence: countOf(fields["sequence"]),
    auditEventId: countOf(fields["auditEventId"]),
    createdAt: timeOf(fields["createTime"]),
    actor: textOf(fields["actor"]),
    action: textOf(fields["action"]),
    subject: textOf(fields["subject"]),
    projectId: optionalTextOf(fields["projectId"]),
    requestId: optionalTextOf(fields["requestId"]),
    address: optionalTextOf(fields["address"]),
    ledgerEntryId: textIfThere(fields["ledgerEntryId"]),
    amountMicroUsd: amountOf(fields["amountMicroUsd"]),
    leafHash: bytesOf(fields["leafHash"], 32),
    chainHash: bytesOf(fields["chainHash"], 32),
  };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

function bytesOf(value: unknown, length: number): Buffer {
  const bytes = Buffer.from(textOf(value), "hex");
  if (bytes.length !== length) throw new TypeError("bytes of another length");
  return bytes;
}

function countOf(value: unknown): bigint {
  const text = textOf(value);
  if (!/^\d{1,18}$/.test(text)) throw new TypeError("no count");
  return BigInt(text);
}

function timeOf(value: unknown): Date {
  const time = new Date(textOf(value));
  if (!(time.getTime() >= 0)) throw new TypeError("no time");
  return time;
}

function formatOf(value: unknown): ExportFormat {
  if (value !== "tss-audit-export-v1" && value !== "tss-audit-export-v2") throw new TypeError("no format");
  return value;
}

function amountOf(value: unknown): bigint | null {
  const text = textIfThere(value);
  if (text === null) return null;
  if (!/^-?\d{1,18}$/.test(text)) throw new TypeError("no amount");
  return BigInt(text);
}

const textIfThere = (value: unknown): string | null => (value === undefined ? null : textOf(value));

const optionalTextOf = (value: unknown): string | null => (value === null ? null : textOf(value));

function textOf(value: unknown): string {
  // Half a surrogate pair would be encoded like another text.
  if (typeof value !== "string" || !value.isWellFormed()) throw new TypeError("no text");
  return value;
}

/**
 * Splits a stream of bytes into lines with their line feeds; the last one may lack it. Throws if a line is longer than
 * 1 MiB.
 */
export async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let start = 0;
    const bytes = rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
      yield bytes.subarray(start, end + 1);
      start = end + 1;
    }
    rest = bytes.subarray(start);
    if (rest.length > LINE_MAX_BYTES)
      throw new Error("a line is longer than 1 MiB: this is not an audit export");
  }
  if (rest.length > 0) yield rest;
}

/** The maximum length of a line of an export. The contract bounds its texts. */
const LINE_MAX_BYTES = 1_048_576;
const LINE_FEED = 0x0a;

/**
 * Yields the lines of an export, and holds one seal's entries in memory at a time. Exports the data of the database
 * unchecked; `verifyExport` checks whether it matches the seals. Throws if the range names a seal that does not exist.
 */
export async function* exportAudit(
  database: Database,
  range: ExportRange = {},
): AsyncGenerator<Buffer, void> {
  const newest = await readNewestNumber(database);
  const { fromSeal = 1n, toSeal = newest } = range;
  const named = [range.fromSeal, range.toSeal].filter((number) => number !== undefined);
  const unknown = named.find((number) => number < 1n || number > newest);
  if (unknown !== undefined) throw new Error(`seal ${unknown} does not exist; the newest one is ${newest}`);
  if (fromSeal > toSeal && named.length > 0) throw new Error("the range ends before it begins");
  let [sealCount, entryCount] = [0n, 0n];
  yield encodeLine({ kind: "head", previousChainHash: await readChainHash(database, fromSeal - 1n) });
  for (let number = fromSeal; number <= toSeal; number++) {
    const seal = await readStoredSeal(database, number);
    if (seal === null) continue;
    yield encodeLine({ kind: "seal", seal });
    sealCount++;
    for (const entry of await readEntries(database, seal)) {
      yield encodeLine({ kind: "entry", entry });
      entryCount++;
    }
  }
  yield encodeLine({ kind: "end", sealCount, entryCount });
}

/** The range of seals to export, with all their entries. */
export interface ExportRange {
  /** Default: the first seal. */
  readonly fromSeal?: bigint | undefined;
  /** Default: the newest seal. */
  readonly toSeal?: bigint | undefined;
}

async function readNewestNumber({ prisma }: Database): Promise<bigint> {
  const newest = await prisma.auditSeal.findFirst({ orderBy: { number: "desc" }, select: { number: true } });
  return newest?.number ?? 0n;
}

async function readChainHash(database: Database, number: bigint): Promise<Uint8Array> {
  return (await readStoredSeal(database, number))?.chainHash ?? GENESIS_HASH;
}

function readStoredSeal({ prisma }: Database, number: bigint): Promise<AuditSeal | null> {
  return prisma.auditSeal.findUnique({ where: { number } });
}

function readEntries(db: Queryable, { firstSequence, lastSequence }: AuditSeal): Promise<ExportedEntry[]> {
  return readRows(
    db,
    sql`SELECT l.sequence, e.id AS "auditEventId", e.created_at AS "createdAt", e.actor, e.action, e.subject,
          e.project_id AS "projectId", e.request_id AS "requestId", e.address,${MONEY_OF_EVENT},
          l.leaf_hash AS "leafHash", l.chain_hash AS "chainHash"
        FROM audit_leaf l JOIN audit_event e ON e.id = l.audit_event_id
        WHERE l.sequence BETWEEN ${firstSequence} AND ${lastSequence} ORDER BY l.sequence`,
    ENTRY_COLUMNS,
  );
}

const ENTRY_COLUMNS: Columns<ExportedEntry> = {
  sequence: bigint,
  auditEventId: bigint,
  createdAt: time,
  actor: text,
  action: text,
  subject: text,
  projectId: nullable(text),
  requestId: nullable(text),
  address: nullable(text),
  ledgerEntryId: nullable(text),
  amountMicroUsd: nullable(bigint),
  leafHash: bytea,
  chainHash: bytea,
};
