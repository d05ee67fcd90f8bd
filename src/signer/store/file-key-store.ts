import { open, readFile } from "node:fs/promises";
import { equalBytes } from "../../protocol/bytes.ts";
import { takePidLock } from "../../service/platform/store/pid-lock.ts";
import { createFile, replaceFile } from "./durable-file.ts";
import { decodeKeys, encodeKeys } from "./file-content.ts";
import type { KeyProgress, KeyStore, StoredKey } from "./key-store.ts";
import { type FileKey, HEAD_BYTES, newFileKey, openContent, sealContent } from "./sealed-file.ts";

/**
 * Opens the encrypted file of keys for this process alone. Throws a SealedFileError for a wrong passphrase or a changed
 * file, and an Error if the file does not exist or another process uses it.
 */
export async function openFileKeyStore(file: string, passphrase: string): Promise<KeyStore> {
  const lock = await takePidLock(
    `${file}.lock`,
    (pid) => `process ${pid} uses the key file ${file}; stop it first`,
  );
  try {
    return new FileKeyStore(file, await readKeyFile(file, passphrase), lock);
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/**
 * Creates a file without keys, or with these. Throws if the file exists: a key file is never overwritten.
 *
 * @param logN the logarithm of scrypt's N. Default 17
 */
export async function createKeyFile(
  file: string,
  passphrase: string,
  keys: readonly StoredKey[] = [],
  logN?: number,
): Promise<void> {
  checkPassphrase(passphrase);
  await createFile(file, sealContent(await newFileKey(passphrase, logN), encodeKeys(keys)));
}

async function readKeyFile(file: string, passphrase: string): Promise<OpenedKeyFile> {
  const sealed = await readFile(file).catch((cause: unknown) => {
    if (codeOf(cause) !== "ENOENT") throw cause;
    throw new Error(
      `there is no key file ${file}; restore it from a backup, or make a new one with \`tss signer create\``,
      { cause },
    );
  });
  return await openKeyFile(sealed, passphrase);
}

/** Opens the content of a key file. Throws a SealedFileError for a wrong passphrase or a changed file. */
export async function openKeyFile(sealed: Uint8Array, passphrase: string): Promise<OpenedKeyFile> {
  const { content, fileKey } = await openContent(sealed, passphrase);
  try {
    return { keys: decodeKeys(content), fileKey, head: sealed.slice(0, HEAD_BYTES) };
  } finally {
    content.fill(0);
  }
}

/** The content of a key file. */
interface OpenedKeyFile {
  readonly keys: readonly StoredKey[];
  readonly fileKey: FileKey;
  /** The file's first bytes, which differ after each write. */
  readonly head: Uint8Array;
}

/** Refuses a passphrase that is too short to protect seeds. */
function checkPassphrase(passphrase: string): void {
  if ([...passphrase].length < LEAST_CHARACTERS)
    throw new Error(`the passphrase must have ${LEAST_CHARACTERS} characters or more`);
}

const LEAST_CHARACTERS = 16;

/** The store on one encrypted file. Each change writes the whole file; changes that wait for a write share the next. */
class FileKeyStore implements KeyStore {
  readonly #file: string;
  readonly #fileKey: FileKey;
  readonly #lock: { release(): Promise<void> };
  readonly #keys: Map<string, StoredKey>;
  #writing: Promise<void> = Promise.resolve();
  #waiting: Promise<void> | undefined;
  /** The heads that the file may have: after a failed write, the old one or the new one. */
  #heads: readonly Uint8Array[];
  #isClosed = false;

  constructor(file: string, { keys, fileKey, head }: OpenedKeyFile, lock: { release(): Promise<void> }) {
    this.#file = file;
    this.#fileKey = fileKey;
    this.#heads = [head];
    this.#keys = new Map(keys.map((key) => [key.name, key]));
    this.#lock = lock;
  }

  find(name: string): StoredKey | undefined {
    return this.#keys.get(name);
  }

  list(): readonly StoredKey[] {
    return [...this.#keys.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async add(key: StoredKey): Promise<void> {
    if (this.#keys.has(key.name)) throw new Error("the store has a key of this name");
    this.#keys.set(key.name, key);
    try {
      await this.#save();
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
    this.#fileKey.key.fill(0);
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
      const sealed = sealContent(this.#fileKey, content);
      const head = sealed.slice(0, HEAD_BYTES);
      this.#heads = [...this.#heads, head];
      await replaceFile(this.#file, sealed);
      this.#heads = [head];
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
      const { buffer } = await handle.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
      if (!this.#heads.some((head) => equalBytes(buffer, head)))
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
