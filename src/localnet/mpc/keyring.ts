import type { NetworkMpc } from "./engine.ts";

/** Creates a keyring with `first` at index 0. `make` creates the others. */
export function createKeyring(first: NetworkMpc, make: (index: number) => Promise<NetworkMpc>): Keyring {
  const made = new Map<number, Promise<NetworkMpc>>();
  return {
    at(index) {
      if (index === 0) return Promise.resolve(first);
      const known = made.get(index) ?? make(index);
      made.set(index, known);
      known.catch(() => made.delete(index));
      return known;
    },
    async close() {
      for (const mpc of made.values())
        await mpc.then(
          (ready) => ready.close(),
          () => undefined,
        );
    },
  };
}

/** The network's cryptography under each of its encryption keys. */
export interface Keyring {
  /** Returns the cryptography under the n-th key, created on first use. */
  at(index: number): Promise<NetworkMpc>;
  /** Closes the instances created here, but not the first one, which its owner closes. */
  close(): Promise<void>;
}
