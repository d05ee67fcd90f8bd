import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";

/** A lock file that is ours. */
export interface PidLock {
  release(): Promise<void>;
}

/** Another process has the lock file. */
export class LockHeldError extends Error {
  override readonly name = "LockHeldError";
}

interface Holder {
  readonly pid: number;
  /** When the process began, in the kernel's ticks; tells a process from a later one with its id. Linux only. */
  readonly startTicks?: string;
  readonly token: string;
}

/** Locks that this process holds or is about to take: its own id in a file is then no leftover. */
const held = new Set<string>();

/**
 * Takes the lock file, or throws a {@link LockHeldError} that names the process which has it. A file left behind by a
 * process that is gone is taken over.
 */
export async function takePidLock(file: string): Promise<PidLock> {
  const startTicks = await startTicksOf(process.pid);
  const own: Holder = { pid: process.pid, token: randomUUID(), ...(startTicks && { startTicks }) };
  const draft = `${file}.${own.token}`;
  held.add(own.token);
  try {
    await writeFile(draft, JSON.stringify(own));
    // A link is made whole or not at all, and never over another.
    while (!(await linked(draft, file))) await removeLeftover(file, draft);
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

/** Whether a living process has the lock file. */
export async function isPidLockHeld(file: string): Promise<boolean> {
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
 * Removes the file if its holder is gone; throws if it lives. Returns also when the file vanished meanwhile.
 * Many may find the same leftover. Only who has the file beside it removes anything, so that nobody takes another's
 * new file for the leftover that it saw a moment ago.
 */
async function removeLeftover(file: string, draft: string): Promise<void> {
  const leftover = await readHolder(file);
  if (leftover === undefined) return;
  if (await isAlive(leftover)) throw lockedError(file, leftover.pid);
  const takeover = `${file}.takeover`;
  if (!(await linked(draft, takeover))) {
    const other = await readHolder(takeover);
    if (other !== undefined && (await isAlive(other))) throw lockedError(file, other.pid);
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
    // A process of another user cannot be signalled, but it lives.
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
    // Falls through: the file is not one of ours.
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

function lockedError(file: string, pid: number): LockHeldError {
  return new LockHeldError(
    `process ${pid} uses the embedded database (${file}); stop it, or set DATABASE_URL to share one`,
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
