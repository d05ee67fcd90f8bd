import { SignerError } from "../signer-error.ts";

/** A bounded number of things at a time, which callers share. */
export interface FairPlaces {
  /**
   * Takes from 1 to `wanted` places for work, and frees them. Throws SignerError SIGNER_BUSY if the caller can have none.
   */
  use<T>(caller: string, wanted: number, work: (places: number) => Promise<T>): Promise<T>;
  /** Takes up to `wanted` places for work, which can also do with none, and frees them. */
  useFurther<T>(caller: string, wanted: number, work: (places: number) => Promise<T>): Promise<T>;
}

/**
 * Creates places, half of which are kept for the callers in equal parts, one at least. So however many places one caller
 * takes, each other caller finds its part. With one caller, it may take all.
 *
 * @param least the number of places, unless there are more callers
 * @param callers the names of all callers
 * @param what what a place is for, in the plural
 */
export function createFairPlaces(least: number, callers: () => readonly string[], what: string): FairPlaces {
  const used = new Map<string, number>();
  const countNow = () => Math.max(least, callers().length);
  const usedBy = (caller: string) => used.get(caller) ?? 0;

  /** Returns the free places that are not kept for another caller. */
  function freeFor(caller: string): number {
    const others = callers().filter((other) => other !== caller);
    const count = countNow();
    const kept = Math.max(1, Math.floor(count / (2 * (others.length + 1))));
    let free = count;
    for (const places of used.values()) free -= places;
    for (const other of others) free -= Math.max(0, kept - usedBy(other));
    return free;
  }

  async function run<T>(caller: string, places: number, work: (places: number) => Promise<T>): Promise<T> {
    used.set(caller, usedBy(caller) + places);
    try {
      return await work(places);
    } finally {
      const left = usedBy(caller) - places;
      if (left === 0) used.delete(caller);
      else used.set(caller, left);
    }
  }

  return {
    async use(caller, wanted, work) {
      const places = Math.min(wanted, freeFor(caller));
      if (places < 1)
        throw new SignerError("SIGNER_BUSY", `the signer makes ${countNow()} ${what} at a time`, {
          retryAfterSeconds: 1,
        });
      return await run(caller, places, work);
    },
    useFurther: (caller, wanted, work) => run(caller, Math.max(0, Math.min(wanted, freeFor(caller))), work),
  };
}
