import { readFileSync } from "node:fs";
import { type FileHandle, mkdir, open, readFile, rename, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { crc32 } from "node:zlib";
import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../protocol/chain/fast-bcs.ts";
import { type Commit, decodeCommit, encodeCommit } from "./fullnode/objects/commit.ts";
import type { CommitLog } from "./fullnode/objects/ledger.ts";
import type { WriteLog } from "./network.ts";

/** The parameters of a data folder, which must not be opened with different ones. */
interface NetworkIdentity {
  readonly seedDigest: Uint8Array;
  readonly hotWalletAddress: string;
  readonly operatorCount: number;
  readonly epochDurationMs: bigint;
}

/** The commits of a network, and the log for new ones. */
export interface History {
  readonly commits: readonly Commit[];
  readonly log: CommitLog;
  close(): Promise<void>;
}

const JOURNAL_FILE = "localnet.journal";
/** Raised when contracts of this version cannot read the objects of an older one. */
const FORMAT_VERSION = 4;
/** At start, a journal above this size is compacted if most of it is superseded object versions. */
const COMPACT_ABOVE_BYTES = 32 * 1024 * 1024;
const OBJECTS_PER_RECORD = 500;

const Header = bcs.struct("Header", {
  format: bcs.u16(),
  seedDigest: bcs.byteVector(),
  hotWalletAddress: Address,
  operatorCount: bcs.u32(),
  epochDurationMs: U64,
});

/** Creates a history in memory, which ends with the process. */
export async function volatileHistory(genesis: () => Promise<Commit>): Promise<History> {
  return { commits: [await genesis()], log: { append: async () => undefined }, close: async () => undefined };
}

/**
 * Opens the history in a data folder, which this process holds until `close`. Creates the genesis when there is none.
 */
export async function durableHistory(
  dataDirectory: string,
  identity: NetworkIdentity,
  genesis: () => Promise<Commit>,
  log: WriteLog,
  compactAboveBytes = COMPACT_ABOVE_BYTES,
): Promise<History> {
  await mkdir(dataDirectory, { recursive: true });
  const lock = await lockDataDirectory(dataDirectory);
  try {
    const path = join(dataDirectory, JOURNAL_FILE);
    const { commits, journal } = await openHistory(path, identity, genesis, log, compactAboveBytes);
    return {
      commits,
      log: { append: (commit) => journal.append(encodeCommit(commit)) },
      async close() {
        await journal.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function openHistory(
  path: string,
  identity: NetworkIdentity,
  genesis: () => Promise<Commit>,
  log: WriteLog,
  compactAboveBytes: number,
): Promise<{ commits: readonly Commit[]; journal: Journal }> {
  const opened = await openJournal(path);
  try {
    return await readHistory(path, opened, identity, genesis, log, compactAboveBytes);
  } catch (error) {
    await opened.journal.close();
    throw error;
  }
}

async function readHistory(
  path: string,
  opened: OpenedJournal,
  identity: NetworkIdentity,
  genesis: () => Promise<Commit>,
  log: WriteLog,
  compactAboveBytes: number,
): Promise<{ commits: readonly Commit[]; journal: Journal }> {
  if (opened.cutBytes > 0) log("cut off a torn journal record", { bytes: opened.cutBytes });
  const [header, ...records] = opened.records;
  if (header !== undefined) checkHeader(header, identity, path);
  // A kill between the header and the genesis leaves no chain, so it is created again.
  if (header === undefined || records.length === 0) {
    if (header === undefined) await opened.journal.append(encodeHeader(identity));
    const commit = await genesis();
    await opened.journal.append(encodeCommit(commit));
    return { commits: [commit], journal: opened.journal };
  }
  const commits = records.map(decodeCommit);
  if (opened.journal.sizeBytes < compactAboveBytes) return { commits, journal: opened.journal };
  const compacted = compact(commits);
  const payloads = compacted.map(encodeCommit);
  const size = payloads.reduce((total, payload) => total + payload.length, 0);
  if (size * 2 > opened.journal.sizeBytes) return { commits, journal: opened.journal };
  await replaceJournal(path, [encodeHeader(identity), ...payloads]);
  await opened.journal.close();
  log("compacted the journal", { beforeBytes: opened.journal.sizeBytes, afterBytes: size });
  return { commits: compacted, journal: (await openJournal(path)).journal };
}

/** Returns the same state and transactions without the intermediate object versions. */
export function compact(commits: readonly Commit[]): Commit[] {
  const objects = new Map<string, Commit["written"][number]>();
  for (const commit of commits) {
    for (const id of commit.deleted) objects.delete(id);
    for (const object of commit.written) objects.set(object.id, object);
  }
  const first = commits[0] as Commit;
  const current = [...objects.values()];
  const states: Commit[] = [];
  for (let start = 0; start < current.length; start += OBJECTS_PER_RECORD) {
    const written = current.slice(start, start + OBJECTS_PER_RECORD);
    states.push({ ...first, executed: new Uint8Array(), written, deleted: [] });
  }
  const transactions = commits
    .filter((commit) => commit.executed.length > 0)
    .map((commit) => ({ ...commit, written: [], deleted: [] }));
  return [...transactions, ...states];
}

function encodeHeader(identity: NetworkIdentity): Uint8Array {
  return Header.serialize({ format: FORMAT_VERSION, ...identity }).toBytes();
}

function checkHeader(bytes: Uint8Array, identity: NetworkIdentity, path: string): void {
  const header = Header.parse(bytes);
  if (header.format !== FORMAT_VERSION) {
    throw new Error(
      `the local network in ${path} has format ${header.format}, and this version reads format ${FORMAT_VERSION}; delete the folder`,
    );
  }
  if (Buffer.compare(bytes, encodeHeader(identity)) !== 0) {
    throw new Error(
      `the local network in ${path} was created for hot wallet ${header.hotWalletAddress} with ${header.operatorCount} operator caps and its own seed; start it with the same options, or delete the folder`,
    );
  }
}

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
interface Journal {
  append(payload: Uint8Array): Promise<void>;
  readonly sizeBytes: number;
  close(): Promise<void>;
}

/** The contents of an existing journal. */
interface OpenedJournal {
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

interface DataLock {
  release(): Promise<void>;
}

interface Holder {
  readonly pid: number;
  /**
   * The kernel's start time of the process, where the system provides it. It distinguishes a reused pid from the old
   * process.
   */
  readonly startedAt: string | undefined;
}

const LOCK_FILE = "localnet.lock";

/** The folders that this process holds. Its own pid in any other lock file is stale, as in a restarted container. */
const held = new Set<string>();

/** Locks a data folder against a second process. Takes over a lock whose process is gone. */
async function lockDataDirectory(dataDirectory: string): Promise<DataLock> {
  const path = resolve(dataDirectory, LOCK_FILE);
  for (let attempt = 0; attempt < 3; attempt++) {
    if (await create(path)) {
      held.add(path);
      return {
        async release() {
          held.delete(path);
          await unlink(path).catch(() => undefined);
        },
      };
    }
    const holder = await readHolder(path);
    if (holder !== undefined && isAlive(path, holder)) {
      throw new Error(`the data folder ${dataDirectory} is in use by process ${holder.pid}`);
    }
    await unlink(path).catch(() => undefined);
  }
  throw new Error(`the data folder ${dataDirectory} could not be locked`);
}

async function create(path: string): Promise<boolean> {
  try {
    const file = await open(path, "wx");
    const holder: Holder = { pid: process.pid, startedAt: startTimeOf(process.pid) };
    try {
      await file.writeFile(JSON.stringify(holder));
    } finally {
      await file.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function readHolder(path: string): Promise<Holder | undefined> {
  try {
    const value = JSON.parse(await readFile(path, "utf8")) as Partial<Holder>;
    return typeof value.pid === "number" ? { pid: value.pid, startedAt: value.startedAt } : undefined;
  } catch {
    // The file is gone, or a kill tore it during the write. In either case the lock is free.
    return undefined;
  }
}

function isAlive(path: string, holder: Holder): boolean {
  if (holder.pid === process.pid) return held.has(path);
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const startedAt = startTimeOf(holder.pid);
  return startedAt === undefined || holder.startedAt === undefined || startedAt === holder.startedAt;
}

/**
 * Returns the 22nd field of /proc/<pid>/stat on Linux. The second field, a name in brackets, may itself contain spaces.
 */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
