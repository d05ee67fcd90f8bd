/** Returns how fast a balance shrinks, from its values over time. Only decreases count: an increase is a deposit. */
export function burnOf(values: readonly BalanceAt[]): Burn {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined)
    return { balance: 0n, perDay: undefined, daysLeft: undefined };
  const { balance } = last;
  const elapsedMs = last.time.getTime() - first.time.getTime();
  if (elapsedMs < LEAST_MS) return { balance, perDay: undefined, daysLeft: undefined };
  const lost = values.slice(1).reduce((sum, value, index) => {
    const change = values[index]!.balance - value.balance;
    return change > 0n ? sum + change : sum;
  }, 0n);
  const perDay = (lost * DAY_MS) / BigInt(elapsedMs);
  return { balance, perDay, daysLeft: perDay === 0n ? undefined : Number(balance) / Number(perDay) };
}

export interface BalanceAt {
  readonly time: Date;
  readonly balance: bigint;
}

/** The rate at which a balance shrinks. */
export interface Burn {
  /** The last value. */
  readonly balance: bigint;
  /** Undefined if the values span less than an hour. */
  readonly perDay: bigint | undefined;
  /** Undefined without a rate, or if it is 0. */
  readonly daysLeft: number | undefined;
}

const DAY_MS = 86_400_000n;
/** A rate over a shorter time would say little. */
const LEAST_MS = 3_600_000;
