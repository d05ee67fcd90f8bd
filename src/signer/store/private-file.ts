import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * Reads a secret from a file, without line breaks at its end. Throws if the file belongs to another user, or if others
 * than the owner may read it. The group may read a file of root, as in a volume that Kubernetes mounts. No error quotes
 * the content.
 */
export function readPrivateFile(file: string, what: string): string {
  const descriptor = openSync(file, "r");
  try {
    const { mode, size, uid } = fstatSync(descriptor);
    if (isOfAnotherUser(uid))
      throw new Error(
        `the file of ${what}, ${file}, is another user's: only root or this process's own user may own it`,
      );
    const forbidden =
      uid === 0 && process.getuid?.() !== 0 ? OF_OTHERS | WRITE_OF_GROUP : OF_OTHERS | OF_GROUP;
    if ((mode & forbidden) !== 0)
      throw new Error(`others may read the file of ${what}, ${file}: make it yours alone with chmod 600`);
    if (size > MAX_BYTES) throw new Error(`the file of ${what}, ${file}, has more than ${MAX_BYTES} bytes`);
    const text = readFileSync(descriptor, "utf8").replace(/[\r\n]+$/, "");
    if (text === "") throw new Error(`the file of ${what}, ${file}, is empty`);
    return text;
  } finally {
    closeSync(descriptor);
  }
}

/** The owner of a file can change it, and its permissions, at any time. Windows has no owners. */
export function isOfAnotherUser(uid: number): boolean {
  const own = process.getuid?.();
  return own !== undefined && uid !== own && uid !== 0;
}

const MAX_BYTES = 4_096;
/** The permissions of others, and those of the group. */
const OF_OTHERS = 0o007;
const OF_GROUP = 0o070;
const WRITE_OF_GROUP = 0o020;
