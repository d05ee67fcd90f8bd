import { readFileSync } from "node:fs";
import { open, readFile, unlink } from "node:fs/promises";
import { resolve } from "node:path";

export interface DataLock {
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
export async function lockDataDirectory(dataDirectory: string): Promise<DataLock> {
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
