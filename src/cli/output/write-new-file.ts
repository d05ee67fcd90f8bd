import { constants } from "node:fs";
import { access, open, rename, rm, unlink, writeFile } from "node:fs/promises";

/**
 * Writes a new file with mode 600, and syncs it. The file appears under its name only when it is whole: an attempt that
 * fails or is interrupted does not block the next one. Until then, its content is in a file with `.partial` at the end
 * of its name, which a failed attempt removes. Throws if the file exists, and never changes it then.
 */
export async function writeNewFile(
  path: string,
  content: Uint8Array | AsyncIterable<Uint8Array>,
): Promise<void> {
  await refuseExisting(path);
  const partial = `${path}.partial`;
  // An existing file would keep its mode, and a link would lead elsewhere.
  await rm(partial, { force: true });
  const file = await open(partial, "wx", 0o600);
  try {
    await writeFile(file, content);
    await file.sync();
    // Takes the name, unless another file has taken it meanwhile.
    await (await open(path, "wx", 0o600)).close();
    await rename(partial, path);
  } catch (error) {
    await unlink(partial);
    throw error;
  } finally {
    await file.close();
  }
}

/** Throws if a file exists. Use it before work whose result could not be written. */
export async function refuseExisting(path: string): Promise<void> {
  if (await exists(path)) throw new Error(`${path} exists, and is not overwritten`);
}

const exists = (path: string): Promise<boolean> =>
  access(path, constants.F_OK).then(
    () => true,
    () => false,
  );
