import { open, readFile } from "node:fs/promises";
import { equalBytes } from "../../protocol/bytes.ts";
import { takePidLock } from "../../service/platform/store/pid-lock.ts";
import { createFile, replaceFile } from "./durable-file.ts";
import { decodeKeys, encodeKeys } from "./file-content.ts";
import type { KeyProgress, KeyStore, StoredKey } from "./key-store.ts";
import { beginLength, type KeySeal, openContent, type SealKey, sealContent } from "./sealed-file.ts";

/**
 * Opens the encrypted file of keys for this process alone. Throws a SealedFileError for a wrong passphrase or a changed
 * file, and an Error if the file does not exist, another process uses it, or the seal cannot get its key.
 */
export async function openFileKeyStore(file: string, seal: KeySeal): Promise<KeyStore> {
  const lock = await takePidLock(
    `${file}.lock`,
    (pid) => `process ${pid} uses the key file ${file}; stop it first`,
  );
  try {
    return new FileKeyStore(file, await readKeyFile(file, seal), lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Creates a file without keys, or with these. Throws if the file exists: a key file is never overwritten. */
export async function createKeyFile(
  file: string,
  seal: KeySeal,
  keys: readonly StoredKey[] = [],
): Promise<void> {
  const sealKey = await seal.newKey();
  const content = encodeKeys(keys);
  try {
    await createFile(file, sealContent(sealKey, content));
  } finally {
    content.fill(0);
    sealKey.key.fill(0);
  }
}

async function readKeyFile(file: string, seal: KeySeal): Promise<OpenedKeyFile> {
  const sealed = await readFile(file).catch((cause: unknown) => {
    if (codeOf(cause) !== "ENOENT") throw cause;
    throw new Error(
      `there is no key file ${file}; restore it from a backup, or make a new one with \`tss signer create\``,
      { cause },
    );
  });
  return await openKeyFile(sealed, seal);
}

/** Opens the content of a key file. Throws a SealedFileError for a wrong passphrase or a changed file. */
export async function openKeyFile(sealed: Uint8Array, seal: KeySeal): Promise<OpenedKeyFile> {
  const { content, sealKey } = await openContent(sealed, seal);
  try {
    return { keys: decodeKeys(content), sealKey, begin: sealed.slice(0, beginLength(sealed)) };
  } finally {
    content.fill(0);
  }
}

/** The content of a key file. */
interface OpenedKeyFile {
  readonly keys: readonly StoredKey[];
  readonly sealKey: SealKey;
  /** The file's first bytes, which differ after each write. */
  readonly begin: Uint8Array;
}

/** The store on one encrypted file. Each change writes the whole file; changes that wait for a write share the next. */
class FileKeyStore implements KeyStore {
  readonly #file: string;
  readonly #sealKey: SealKey;
  readonly #lock: { release(): Promise<void> };
  readonly #keys: Map<string, StoredKey>;
  #writing: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  /** What the file may begin with: after a failed write, the old bytes or the new ones. */
  #begins: readonly Uint8Array[];
  #isClosed = false;

  constructor(file: string, { keys, sealKey, begin }: OpenedKeyFile, lock: { release(): Promise<void> }) {
    this.#file = file;
    this.#sealKey = sealKey;
    this.#begins = [begin];
    this.#keys = new Map(keys.map((key) => [key.name, key]));
    this.#lock = lock;
  }

  find(name: string): StoredKey | undefined {
    return this.#keys.get(name);
  }

  list(): readonly StoredKey[] {
    return [...this.#keys.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async add(key: StoredKey): Promise<StoredKey> {
    if (this.#keys.has(key.name)) throw new Error("the store has a key of this name");
    this.#keys.set(key.name, key);
    try {
      await this.#save();
      return key;
    } catch (error) {
      // Nobody may use a seed that could be lost.
      this.#keys.delete(key.name);
      throw error;
    }
  }

  async setProgress(name: string, progress: KeyProgress): Promise<void> {
    const key = this.#keys.get(name);
    if (key === undefined) throw new Error("the store has no key of this name");
    const changed = { ...key, progress };
    this.#keys.set(name, changed);
    try {
      await this.#save();
    } catch (error) {
      if (this.#keys.get(name) === changed) this.#keys.set(name, key);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await (this.#waiting ?? this.#writing).catch(() => {});
    for (const { seed } of this.#keys.values()) seed.fill(0);
    this.#keys.clear();
    this.#sealKey.key.fill(0);
    await this.#lock.release();
  }

  /** Resolves when a write that began after this call is on the disk. */
  #save(): Promise<void> {
    if (this.#isClosed) return Promise.reject(new Error("the key file is closed"));
    this.#waiting ??= this.#writing.then(async () => {
      this.#waiting = undefined;
      const written = this.#write();
      this.#writing = written.catch(() => {});
      await written;
    });
    return this.#waiting;
  }

  async #write(): Promise<void> {
    await this.#checkUnchanged();
    const content = encodeKeys(this.#keys.values());
    try {
      const sealed = sealContent(this.#sealKey, content);
      const begin = sealed.slice(0, beginLength(sealed));
      this.#begins = [...this.#begins, begin];
      await replaceFile(this.#file, sealed);
      this.#begins = [begin];
    } finally {
      content.fill(0);
    }
  }

  /**
   * Refuses to overwrite a file that another process has written: the lock does not reach a container or a machine that
   * shares the folder.
   */
  async #checkUnchanged(): Promise<void> {
    const handle = await open(this.#file, "r");
    try {
      // Each of them has the same head and another nonce, and so the same length.
      const { length } = this.#begins[0]!;
      const { buffer } = await handle.read(new Uint8Array(length), 0, length, 0);
      if (!this.#begins.some((begin) => equalBytes(buffer, begin)))
        throw new Error(
          `another process has changed the key file ${this.#file}; stop it, and restart this one`,
        );
    } finally {
      await handle.close();
    }
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
