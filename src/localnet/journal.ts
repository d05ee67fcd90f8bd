import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";

/**
 * Opens and reads a journal. Cuts off a last record that a kill has torn. Refuses damage before the end, because a cut
 * there would lose acknowledged records.
 */
export async function openJournal(path: string): Promise<OpenedJournal> {
  const created = await open(path, "a");
  await created.close();
  await syncDirectory(dirname(path));
  const file = await open(path, "r+");
  try {
    const bytes = await file.readFile();
    const { records, end } = readRecords(bytes, path);
    const cutBytes = bytes.length - end;
    if (cutBytes > 0) {
      await file.truncate(end);
      await file.datasync();
    }
    return { journal: journalOver(file, end), records, cutBytes };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** An append-only file of records. A record is on disk when its `append` resolves. */
export interface Journal {
  append(payload: Uint8Array): Promise<void>;
  readonly sizeBytes: number;
  close(): Promise<void>;
}

/** The contents of an existing journal. */
export interface OpenedJournal {
  readonly journal: Journal;
  readonly records: readonly Uint8Array[];
  /** The number of bytes of a torn last record that were cut off; 0 after a clean stop. */
  readonly cutBytes: number;
}

/** Each record is preceded by its length and CRC-32, both u32 little endian. */
const HEADER_BYTES = 8;
const MAX_RECORD_BYTES = 64 * 1024 * 1024;

/** Replaces a journal atomically: after a crash it is the old one or the new one. */
export async function replaceJournal(path: string, payloads: Iterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.tmp`;
  const file = await open(temporary, "w");
  try {
    for (const payload of payloads) await file.write(frame(payload));
    await file.sync();
  } catch (error) {
    await unlink(temporary).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}

function journalOver(file: FileHandle, end: number): Journal {
  let position = end;
  return {
    get sizeBytes() {
      return position;
    },
    async append(payload) {
      const bytes = frame(payload);
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written);
        written += bytesWritten;
      }
      await file.datasync();
      position += bytes.length;
    },
    close: () => file.close(),
  };
}

function frame(payload: Uint8Array): Buffer {
  if (payload.length > MAX_RECORD_BYTES)
    throw new Error(`a journal record may have at most ${MAX_RECORD_BYTES} bytes`);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(payload.length, 0);
  header.writeUInt32LE(crc32(payload), 4);
  return Buffer.concat([header, payload]);
}

function readRecords(bytes: Buffer, path: string): { records: Uint8Array[]; end: number } {
  const records: Uint8Array[] = [];
  let offset = 0;
  while (offset < bytes.length) {
    const start = offset + HEADER_BYTES;
    const length = start <= bytes.length ? bytes.readUInt32LE(offset) : Number.POSITIVE_INFINITY;
    const end = start + length;
    if (end > bytes.length || (length === 0 && isBlank(bytes, offset))) return { records, end: offset };
    const payload = bytes.subarray(start, end);
    if (crc32(payload) !== bytes.readUInt32LE(offset + 4)) {
      if (end === bytes.length) return { records, end: offset };
      throw new Error(`the journal ${path} is damaged at byte ${offset}`);
    }
    records.push(payload);
    offset = end;
  }
  return { records, end: offset };
}

/** A crash can leave zeros instead of a record. */
function isBlank(bytes: Buffer, offset: number): boolean {
  return bytes.subarray(offset).every((byte) => byte === 0);
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
