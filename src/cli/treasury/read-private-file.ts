import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";

/**
 * Reads a file with a secret. Throws if other users than the owner have any permission on it, or if it is too long for
 * a key.
 */
export function readPrivateFile(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const { mode, size } = fstatSync(descriptor);
    if ((mode & OF_OTHERS) !== 0)
      throw new Error(`others may read the key file ${path}: make it yours alone with chmod 600`);
    if (size > MAX_BYTES) throw new Error(`the key file ${path} is too long for a key`);
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

const MAX_BYTES = 1_000;
/** The permissions of the group and of others. */
const OF_OTHERS = 0o077;
