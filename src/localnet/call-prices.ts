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
 * Reads prices, each as `<call>=<ika>,<sui>`. The call `all` means every call that no other item names. Throws an Error
 * whose message says what an item must be.
 *
 * @example readCallPrices(["all=0,0", "sign=10000000,2000000"])
 */
export function readCallPrices(items: readonly string[]): CallPrices {
  const { [ALL]: all, ...named } = Object.fromEntries(items.map(readItem));
  const ofAll = all === undefined ? [] : PRICED_CALLS.map((call) => [call, all] as const);
  return { ...Object.fromEntries(ofAll), ...named };
}

/** The name that stands for all calls. */
const ALL = "all";

function readItem(item: string): [string, Price] {
  const [, name = "", ika = "", sui = ""] = /^([a-z-]{1,20})=(\d{1,18}),(\d{1,18})$/.exec(item) ?? [];
  if (name !== ALL && !PRICED_CALLS.some((call) => call === name))
    throw new Error(
      `takes <call>=<ika>,<sui> in the smallest units, such as sign=10000000,2000000; the calls are ${PRICED_CALLS.join(", ")}, and ${ALL}`,
    );
  return [name, { ika: BigInt(ika), sui: BigInt(sui) }];
}
