import { type FileHandle, link, open, rename, rm } from "node:fs/promises";
import path from "node:path";

/**
 * Replaces a file and returns once the new content is on the disk. A reader, and a process that starts after a crash,
 * sees the old content or the new one, never a part. The file has mode 0600.
 */
export async function replaceFile(file: string, content: Uint8Array): Promise<void> {
  await rename(await writeDraft(file, content), file);
  await syncFolder(file);
}

/** Writes a new file in the same way. Throws if the file exists, and never changes it then. */
export async function createFile(file: string, content: Uint8Array): Promise<void> {
  const draft = await writeDraft(file, content);
  try {
    // A link never overwrites a file.
    await link(draft, file);
  } catch (cause) {
    const isTaken = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    throw isTaken ? new Error(`${file} exists, and is not overwritten`, { cause }) : cause;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(file);
}

/** Writes the content to a file beside the named one, and syncs it. */
async function writeDraft(file: string, content: Uint8Array): Promise<string> {
  const draft = `${file}.partial`;
  // A leftover would keep its mode, and a link would lead elsewhere.
  await rm(draft, { force: true });
  await withHandle(await open(draft, "wx", 0o600), async (handle) => {
    await handle.writeFile(content);
    await handle.sync();
  });
  return draft;
}

/** A name is durable once its folder is. */
async function syncFolder(file: string): Promise<void> {
  await withHandle(await open(path.dirname(file), "r"), (handle) => handle.sync());
}

async function withHandle(handle: FileHandle, use: (handle: FileHandle) => Promise<void>): Promise<void> {
  try {
    await use(handle);
  } finally {
    await handle.close();
  }
}
