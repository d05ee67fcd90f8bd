import { equalBytes } from "../../protocol/bytes.ts";
import { decodeKeys, encodeKeys } from "../store/file-content.ts";
import type { KeyProgress, KeyStore, StoredKey } from "../store/key-store.ts";
import { type KeySeal, openContent, openWith, type SealKey, sealContent } from "../store/sealed-file.ts";
import { isObject, type VaultClient, VaultError } from "./vault-client.ts";

/** The place of a store: a mount of the secrets engine KV, version 2, and a path in it. */
export interface VaultPlace {
  readonly mount: string;
  readonly path: string;
}

/**
 * Creates a store without keys, or with these. Throws if there is one at this place, or if there are entries. Those of an
 * interrupted creation must be removed before it is repeated.
 */
export async function createVaultStore(
  vault: VaultClient,
  place: VaultPlace,
  seal: KeySeal,
  keys: readonly StoredKey[] = [],
): Promise<void> {
  const kv = openKv(vault, place);
  if ((await kv.read(HEAD)) !== undefined)
    throw new Error(`there is a store at ${place.mount}/${place.path}, and it is not overwritten`);
  if ((await kv.list("keys")).length > 0)
    throw new Error(
      `${place.mount}/${place.path}/keys has entries without a store; remove them only if an interrupted restore left them, because they may be the only copies of seeds`,
    );
  const sealKey = await seal.newKey();
  const writeNew = async (entry: string, sealed: Uint8Array) => {
    if ((await kv.write(entry, sealed, 0)) === undefined)
      throw new Error(
        `another process makes a store at ${place.mount}/${place.path}; nothing was overwritten`,
      );
  };
  try {
    for (const key of keys) await writeNew(entryOf(key.name), sealEntry(sealKey, key));
    // The head makes the store, so that an interrupted restore leaves none.
    await writeNew(HEAD, sealContent(sealKey, new Uint8Array(), HEAD));
  } finally {
    sealKey.key.fill(0);
  }
}

/**
 * Opens the store and reads all its keys. The caller closes Vault. Several signers may use one store: check-and-set lets
 * none overwrite the entry of another one.
 */
export async function openVaultStore(
  vault: VaultClient,
  place: VaultPlace,
  seal: KeySeal,
): Promise<VaultStore> {
  const kv = openKv(vault, place);
  const head = await kv.read(HEAD);
  if (head === undefined)
    throw new Error(
      `Vault has no store at ${place.mount}/${place.path}; restore it, or make a new one with \`tss signer create\``,
    );
  const { sealKey } = await openContent(head.sealed, seal, HEAD);
  const store = new VaultKeyStore(kv, sealKey);
  try {
    await store.refresh();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** A store whose keys other signers may change. */
export interface VaultStore extends KeyStore {
  /** Reads the keys that are new, and those that are not active here. The store does so by itself, twice a minute. */
  refresh(): Promise<void>;
}

const HEAD = "head";
const READS_AT_A_TIME = 16;
const REFRESH_INTERVAL_MS = 30_000;
const MAX_ENTRIES = 20_000;

/** A key, and the version of its entry. */
interface Entry {
  readonly key: StoredKey;
  readonly version: number;
}

class VaultKeyStore implements VaultStore {
  readonly #kv: Kv;
  readonly #sealKey: SealKey;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  /** The last write of each key, because each needs the version of the one before. */
  readonly #writing = new Map<string, Promise<unknown>>();
  #isClosed = false;

  constructor(kv: Kv, sealKey: SealKey) {
    this.#kv = kv;
    this.#sealKey = sealKey;
    // Vault may be away for a while. What the store has is valid all the same.
    this.#timer = setInterval(() => void this.refresh().catch(() => {}), REFRESH_INTERVAL_MS);
    this.#timer.unref();
  }

  async refresh(): Promise<void> {
    const written = await this.#kv.list("keys");
    const names = written.map(nameOf).filter((name) => this.find(name)?.progress.kind !== "active");
    const waiting = names.values();
    const readSome = async () => {
      for (const name of waiting) await this.#afterEarlier(name, () => this.#read(name));
    };
    await Promise.all(Array.from({ length: READS_AT_A_TIME }, readSome));
  }

  async #read(name: string): Promise<void> {
    const found = await readEntry(this.#kv, this.#sealKey, name);
    const known = this.#entries.get(name);
    // The seed of a key never changes, and an older version of its entry says nothing new.
    if (found === undefined || (known !== undefined && known.version >= found.version)) return;
    if (known === undefined || equalBytes(known.key.seed, found.key.seed)) this.#entries.set(name, found);
  }

  find(name: string): StoredKey | undefined {
    return this.#entries.get(name)?.key;
  }

  list(): readonly StoredKey[] {
    return [...this.#entries.values()].map(({ key }) => key).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  add(key: StoredKey): Promise<StoredKey> {
    return this.#afterEarlier(key.name, async () => {
      if (this.#entries.has(key.name)) throw new Error("the store has a key of this name");
      const sealed = sealEntry(this.#sealKey, key);
      const version = await this.#kv.write(entryOf(key.name), sealed, 0);
      // Another signer has this key, or an earlier write had no answer. Its seed counts: it may be submitted already.
      const found = await readEntry(this.#kv, this.#sealKey, key.name);
      if (found === undefined) throw new VaultError("Vault does not return the key that it has stored");
      if (version !== undefined && !equalBytes(found.key.seed, key.seed))
        throw new VaultError("Vault returns another seed than it has stored");
      this.#entries.set(key.name, found);
      return found.key;
    });
  }

  setProgress(name: string, progress: KeyProgress): Promise<void> {
    return this.#afterEarlier(name, async () => {
      const entry = this.#entries.get(name);
      if (entry === undefined) throw new Error("the store has no key of this name");
      // Since the caller began, a refresh may have found that another signer has finished the key: that stays.
      if (entry.key.progress.kind === "active") return checkSameProgress(entry.key.progress, progress);
      const key = { ...entry.key, progress };
      const version = await this.#kv.write(entryOf(name), sealEntry(this.#sealKey, key), entry.version);
      if (version !== undefined) {
        this.#entries.set(name, { key, version });
        return;
      }
      const found = await readEntry(this.#kv, this.#sealKey, name);
      if (found === undefined || !equalBytes(found.key.seed, key.seed))
        throw new VaultError("the entry of the key was replaced in Vault");
      this.#entries.set(name, found);
      // It is the same if an earlier write had no answer, and succeeded.
      checkSameProgress(found.key.progress, progress);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await Promise.allSettled([...this.#writing.values()]);
    for (const { key } of this.#entries.values()) key.seed.fill(0);
    this.#entries.clear();
    this.#sealKey.key.fill(0);
  }

  async #afterEarlier<T>(name: string, write: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new Error("the store is closed");
    const earlier = this.#writing.get(name) ?? Promise.resolve();
    const own = earlier.then(write, write);
    this.#writing.set(name, own);
    try {
      return await own;
    } finally {
      if (this.#writing.get(name) === own) this.#writing.delete(name);
    }
  }
}

function checkSameProgress(stored: KeyProgress, wanted: KeyProgress): void {
  if (JSON.stringify(stored) !== JSON.stringify(wanted))
    throw new VaultError("another signer has changed the key; repeat the call");
}

async function readEntry(kv: Kv, sealKey: SealKey, name: string): Promise<Entry | undefined> {
  const found = await kv.read(entryOf(name));
  if (found === undefined) return undefined;
  const content = openWith(sealKey, found.sealed, entryOf(name));
  try {
    const [key] = decodeKeys(content);
    // The seal is bound to the name, so this is our own mistake.
    if (key?.name !== name) throw new Error("an entry has the key of another name");
    return { key, version: found.version };
  } finally {
    content.fill(0);
  }
}

function sealEntry(sealKey: SealKey, key: StoredKey): Uint8Array {
  const content = encodeKeys([key]);
  try {
    return sealContent(sealKey, content, entryOf(key.name));
  } finally {
    content.fill(0);
  }
}

/** Vault refuses some paths, such as those with two points. Letters, digits, `_` and `-` stand for themselves. */
function entryOf(name: string): string {
  const escaped = name.replace(
    /[^A-Za-z0-9_-]/g,
    (character) => `=${character.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `keys/${escaped}`;
}

function nameOf(written: string): string {
  return written.replace(/=([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** The entries below a path of KV version 2. */
interface Kv {
  /** Throws for a deleted entry: it may be the only copy of a seed. */
  read(entry: string): Promise<{ readonly sealed: Uint8Array; readonly version: number } | undefined>;
  /** Returns the new version, or undefined if the entry's version is not the expected one. 0 expects no entry. */
  write(entry: string, sealed: Uint8Array, expected: number): Promise<number | undefined>;
  list(folder: string): Promise<string[]>;
}

function openKv(vault: VaultClient, { mount, path }: VaultPlace): Kv {
  return {
    async read(entry) {
      const answer = await vault.call("GET", `${mount}/data/${path}/${entry}`);
      if (answer === undefined) return undefined;
      const { data, metadata } = answer;
      if (!isObject(metadata)) throw notKv(mount);
      if (!isObject(data))
        throw new VaultError(
          `the entry ${path}/${entry} of Vault is deleted; undelete it, or remove its metadata to lose the seed for good`,
        );
      const { sealed } = data;
      const version = versionOf(metadata, mount);
      if (typeof sealed !== "string") throw new VaultError(`the entry ${path}/${entry} is not a signer's`);
      return { sealed: new Uint8Array(Buffer.from(sealed, "base64")), version };
    },
    async write(entry, sealed, expected) {
      const data = { sealed: Buffer.from(sealed).toString("base64") };
      try {
        const body = { options: { cas: expected }, data };
        const answer = await vault.call("POST", `${mount}/data/${path}/${entry}`, body);
        return versionOf(answer ?? {}, mount);
      } catch (error) {
        if (error instanceof VaultError && error.status === 400 && /check-and-set/.test(error.message))
          return undefined;
        throw error;
      }
    },
    async list(folder) {
      const answer = await vault.call("GET", `${mount}/metadata/${path}/${folder}?list=true`);
      if (answer === undefined) return [];
      const { keys } = answer;
      if (!Array.isArray(keys) || keys.length > MAX_ENTRIES || !keys.every((key) => typeof key === "string"))
        throw new VaultError("Vault lists something else than names");
      return keys as string[];
    },
  };
}

function versionOf({ version }: Readonly<Record<string, unknown>>, mount: string): number {
  if (!Number.isSafeInteger(version) || Number(version) < 1) throw notKv(mount);
  return Number(version);
}

function notKv(mount: string): VaultError {
  return new VaultError(`the mount ${mount} of Vault is not a secrets engine KV of version 2`);
}
