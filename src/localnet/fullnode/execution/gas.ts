import type { ChainObject } from "../objects/object.ts";

/** The cost of one transaction, in MIST. */
export interface GasUsed {
  readonly computationCost: bigint;
  readonly storageCost: bigint;
  readonly storageRebate: bigint;
  readonly nonRefundableStorageFee: bigint;
}

/** The price of one gas unit on this network, in MIST. Transactions may offer more but not less. */
export const REFERENCE_GAS_PRICE = 1_000n;

/** Computation units per bucket. Sui charges by bucket, and transactions of this network fit the first buckets. */
const BUCKET_UNITS = 1_000n;
const COMMANDS_PER_BUCKET = 32;
/** MIST per byte of stored object: 100 storage units of 76 MIST. */
const STORAGE_PRICE_PER_BYTE = 7_600n;
/** The size of an object without its contents, in bytes. */
const OBJECT_OVERHEAD_BYTES = 140;
/** The returned part of a rebate, per 10,000. */
const REBATE_RATE = 9_900n;

/** Returns the cost of storing an object. */
export function storageCostOf(contents: Uint8Array): bigint {
  return BigInt(contents.length + OBJECT_OVERHEAD_BYTES) * STORAGE_PRICE_PER_BYTE;
}

/** Returns the cost of a transaction of `commandCount` commands that replaces `before` by `after`. */
export function gasUsed(
  price: bigint,
  commandCount: number,
  before: readonly ChainObject[],
  after: readonly { readonly storageRebate: bigint }[],
): GasUsed {
  const buckets = BigInt(Math.max(1, Math.ceil(commandCount / COMMANDS_PER_BUCKET)));
  const released = sum(before);
  const storageRebate = (released * REBATE_RATE) / 10_000n;
  return {
    computationCost: buckets * BUCKET_UNITS * price,
    storageCost: sum(after),
    storageRebate,
    nonRefundableStorageFee: released - storageRebate,
  };
}

/** Returns the net payment of the gas coin; negative when deletions return more than the rest costs. */
export function netGas(used: GasUsed): bigint {
  return used.computationCost + used.storageCost - used.storageRebate;
}

/** Returns the charge. A failed transaction's storage may cost more than its budget; it pays at most the budget. */
export function chargedGas(used: GasUsed, budget: bigint): bigint {
  const cost = netGas(used);
  if (cost > budget) return budget;
  return cost;
}

function sum(objects: readonly { readonly storageRebate: bigint }[]): bigint {
  return objects.reduce((total, object) => total + object.storageRebate, 0n);
}
