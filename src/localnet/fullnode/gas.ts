import type { ChainObject } from "./object.ts";

/** What one transaction costs, in MIST. */
export interface GasUsed {
  readonly computationCost: bigint;
  readonly storageCost: bigint;
  readonly storageRebate: bigint;
  readonly nonRefundableStorageFee: bigint;
}

/** One gas unit's price in MIST at which this network runs; transactions may offer more, never less. */
export const REFERENCE_GAS_PRICE = 1_000n;

/** Units of computation: Sui charges by bucket, and every transaction of this network fits the first ones. */
const BUCKET_UNITS = 1_000n;
const COMMANDS_PER_BUCKET = 32;
/** MIST per byte of stored object: 100 storage units of 76 MIST. */
const STORAGE_PRICE_PER_BYTE = 7_600n;
/** Bytes of an object beside its contents. */
const OBJECT_OVERHEAD_BYTES = 140;
/** Of 10,000: the part of a rebate that is given back. */
const REBATE_RATE = 9_900n;

/** What it costs to store an object. */
export function storageCostOf(contents: Uint8Array): bigint {
  return BigInt(contents.length + OBJECT_OVERHEAD_BYTES) * STORAGE_PRICE_PER_BYTE;
}

/** The cost of a transaction of `commandCount` commands that replaces `before` by `after`. */
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

/** What the gas coin pays in the end; negative when deleting gives back more than the rest costs. */
export function netGas(used: GasUsed): bigint {
  return used.computationCost + used.storageCost - used.storageRebate;
}

/** What is charged. A failed transaction can cost more than its budget, by storage: the budget is all it pays. */
export function chargedGas(used: GasUsed, budget: bigint): bigint {
  const cost = netGas(used);
  if (cost > budget) return budget;
  return cost;
}

function sum(objects: readonly { readonly storageRebate: bigint }[]): bigint {
  return objects.reduce((total, object) => total + object.storageRebate, 0n);
}
