/** Random choices from a seed. */
export interface Random {
  /** Returns a number from 0 to below 1. */
  next(): number;
  /** An integer from `min` to `max`. */
  integer(min: number, max: number): number;
  happens(probability: number): boolean;
  pick<T>(choices: readonly T[]): T;
}

/** mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    integer,
    happens: (probability) => next() < probability,
    pick: (choices) => choices[integer(0, choices.length - 1)] as (typeof choices)[number],
  };
}
