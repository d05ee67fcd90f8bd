import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";

/** A lock file that this process holds. */
interface PidLock {
  release(): Promise<void>;
}

/** Thrown if another process holds the lock file. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

interface Holder {
  readonly pid: number;
  /**
   * The start time of the process in the kernel's ticks. It distinguishes a process from a later one with the same id.
   * Linux only.
   */
  readonly startTicks?: string;
  readonly token: string;
}

/** The locks that this process holds or is taking, so that it does not mistake its own lock file for a leftover. */
const held = new Set<string>();

/**
 * Takes the lock file, or throws a {@link LockHeldError} that names its holder. Takes over the file of a dead process.
 *
 * @param tellHeld the message for a lock that the process with this id holds. Default: that of the embedded database
 */
export async function takePidLock(
  file: string,
  tellHeld: (pid: number) => string = (pid) =>
    `process ${pid} uses the embedded database (${file}); stop it, or set DATABASE_URL to share one`,
): Promise<PidLock> {
  const lockedError = (pid: number) => new LockHeldError(tellHeld(pid));
  const startTicks = await startTicksOf(process.pid);
  const own: Holder = { pid: process.pid, token: randomUUID(), ...(startTicks && { startTicks }) };
  const draft = `${file}.${own.token}`;
  held.add(own.token);
  try {
    await writeFile(draft, JSON.stringify(own));
    // Creating a link is atomic and never overwrites a file.
    while (!(await linked(draft, file))) await removeLeftover(file, draft, lockedError);
  } catch (error) {
    held.delete(own.token);
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return {
    async release() {
      if (!held.delete(own.token)) return;
      if ((await readHolder(file))?.token === own.token) await rm(file, { force: true });
    },
  };
}

/** Returns true if a living process holds the lock file. */
async function isPidLockHeld(file: string): Promise<boolean> {
  const holder = await readHolder(file);
  return holder !== undefined && (await isAlive(holder));
}

async function linked(draft: string, file: string): Promise<boolean> {
  try {
    await link(draft, file);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/**
 * Removes the file if its holder is dead, and throws if the holder is alive. Also returns if the file has vanished.
 * Several processes may find the same leftover. A process must hold a second lock file to remove it, so that none
 * removes the new file of another.
 */
async function removeLeftover(
  file: string,
  draft: string,
  lockedError: (pid: number) => LockHeldError,
): Promise<void> {
  const leftover = await readHolder(file);
  if (leftover === undefined) return;
  if (await isAlive(leftover)) throw lockedError(leftover.pid);
  const takeover = `${file}.takeover`;
  if (!(await linked(draft, takeover))) {
    const other = await readHolder(takeover);
    if (other !== undefined && (await isAlive(other))) throw lockedError(other.pid);
    await rm(takeover, { force: true });
    return;
  }
  try {
    if ((await readHolder(file))?.token === leftover.token) await rm(file);
  } finally {
    await rm(takeover, { force: true });
  }
}

async function isAlive({ pid, startTicks, token }: Holder): Promise<boolean> {
  if (held.has(token)) return true;
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    // A process of another user cannot be signalled, but it is alive.
    if (codeOf(error) !== "EPERM") return false;
  }
  const now = await startTicksOf(pid);
  return startTicks === undefined || now === undefined || now === startTicks;
}

async function readHolder(file: string): Promise<Holder | undefined> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    const holder = JSON.parse(text) as Holder;
    if (Number.isSafeInteger(holder.pid) && holder.pid > 0) return holder;
  } catch {
    // Falls through, because the file is not a lock file of this service.
  }
  throw new Error(`${file} is not a lock file of this service; remove it if nothing uses the folder`);
}

async function startTicksOf(pid: number): Promise<string | undefined> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    // The second field is the command in brackets and may hold anything; the 22nd is the start time.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

/** The lock file of the embedded database in a data folder. */
export function lockFileOf(dataDirectory: string): string {
  return path.join(dataDirectory, "pg.lock");
}

/** Returns true if a process has the embedded database of a data folder open. */
export function isEmbeddedDatabaseOpen(dataDirectory: string): Promise<boolean> {
  return isPidLockHeld(lockFileOf(dataDirectory));
}
