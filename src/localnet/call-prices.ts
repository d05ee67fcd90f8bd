/** The calls of Ika that have a price, by their names in options. */
const PRICED_CALLS = [
  "dkg",
  "dkg-with-sign",
  "imported-key",
  "presign",
  "sign",
  "future-sign",
  "sign-with-partial",
  "re-encryption",
  "public-share",
] as const;

/** The name of a call that has a price. */
export type PricedCall = (typeof PRICED_CALLS)[number];

/** Prices of calls. */
export type CallPrices = Readonly<Partial<Record<PricedCall, Price>>>;

/** The price of a call, in the smallest units of IKA and SUI. */
export interface Price {
  readonly ika: bigint;
  readonly sui: bigint;
}

/**
 * Reads prices, each as `<call>=<ika>,<sui>`. Throws an Error whose message says what an item must be.
 *
 * @example readCallPrices(["sign=10000000,2000000"])
 */
export function readCallPrices(items: readonly string[]): CallPrices {
  return Object.fromEntries(items.map(readItem));
}

function readItem(item: string): [string, Price] {
  const [, name = "", ika = "", sui = ""] = /^([a-z-]{1,20})=(\d{1,18}),(\d{1,18})$/.exec(item) ?? [];
  if (!PRICED_CALLS.some((call) => call === name))
    throw new Error(
      `takes <call>=<ika>,<sui> in the smallest units, such as sign=10000000,2000000; the calls are ${PRICED_CALLS.join(", ")}`,
    );
  return [name, { ika: BigInt(ika), sui: BigInt(sui) }];
}
