import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { connect, type Server } from "node:net";
import path from "node:path";

/**
 * Listens on a Unix socket that only this process's user can connect to (mode 0600), from its first moment on: the
 * socket is made in a private folder and then gets its name. Replaces the socket of a process that has died. Returns the
 * function that removes the socket.
 * @throws Error when a process listens on the path, or the path is another kind of file
 */
export async function listenOnSocket(server: Server, file: string): Promise<() => void> {
  await refuseTaken(file);
  const folder = mkdtempSync(`${file}.`);
  try {
    const made = path.join(folder, "s");
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(made, () => {
        server.off("error", reject);
        resolve();
      });
    });
    chmodSync(made, 0o600);
    const { ino } = lstatSync(made);
    renameSync(made, file);
    return () => {
      // Another process may have taken the path since.
      if (inodeOf(file) === ino) rmSync(file);
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function refuseTaken(file: string): Promise<void> {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${file} is not a socket, and is not overwritten`);
  const isAlive = await new Promise<boolean>((resolve) => {
    const socket = connect(file, () => resolve(true)).once("error", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
  if (isAlive) throw new Error(`another process listens on ${file}`);
}

function inodeOf(file: string): number | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.ino;
}
