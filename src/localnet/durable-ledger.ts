import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { bcs } from "@mysten/sui/bcs";
import { lockDataDirectory } from "./data-lock.ts";
import { type Commit, decodeCommit, encodeCommit } from "./fullnode/commit.ts";
import type { CommitLog } from "./fullnode/ledger.ts";
import { type Journal, type OpenedJournal, openJournal, replaceJournal } from "./journal.ts";
import type { WriteLog } from "./write-log.ts";

/** The parameters of a data folder, which must not be opened with different ones. */
export interface NetworkIdentity {
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
  hotWalletAddress: bcs.Address,
  operatorCount: bcs.u32(),
  epochDurationMs: bcs.u64(),
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
