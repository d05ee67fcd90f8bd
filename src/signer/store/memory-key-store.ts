import type { KeyStore, StoredKey } from "./key-store.ts";

/**
 * A store that ends with the process. Use it with a master seed alone: CreateKey then makes the same seed again, and
 * finds the same dWallet.
 */
export function createMemoryKeyStore(): KeyStore {
  const keys = new Map<string, StoredKey>();
  return {
    find: (name) => keys.get(name),
    list: () => [...keys.values()].sort((a, b) => (a.name < b.name ? -1 : 1)),
    async add(key) {
      if (keys.has(key.name)) throw new Error("the store has a key of this name");
      keys.set(key.name, key);
      return key;
    },
    async setProgress(name, progress) {
      const key = keys.get(name);
      if (key === undefined) throw new Error("the store has no key of this name");
      keys.set(name, { ...key, progress });
    },
    async close() {
      for (const { seed } of keys.values()) seed.fill(0);
      keys.clear();
    },
  };
}
