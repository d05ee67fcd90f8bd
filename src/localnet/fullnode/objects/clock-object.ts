import { concatBytes } from "@noble/hashes/utils.js";
import { type ChainObject, sealObject } from "./object.ts";
import type { ObjectStore } from "./object-store.ts";
import { addressBytes, SUI_CLOCK_ID, SUI_FRAMEWORK, u64Bytes } from "./sui-types.ts";

/** `0x2::clock::Clock` */
export const CLOCK_TYPE = `${SUI_FRAMEWORK}::clock::Clock`;

/** A point of the chain's time. */
export interface ClockTime {
  readonly checkpoint: bigint;
  readonly timestampMs: bigint;
}

/** Returns the shared clock at a time. It is not stored: on Sui, a system transaction sets it before each commit. */
export function clockObject(chainId: string, { checkpoint, timestampMs }: ClockTime): ChainObject {
  return sealObject({
    id: SUI_CLOCK_ID,
    version: checkpoint,
    owner: { kind: "shared", initialVersion: 1n },
    type: CLOCK_TYPE,
    contents: concatBytes(addressBytes(SUI_CLOCK_ID), u64Bytes(timestampMs)),
    previousTransaction: chainId,
    storageRebate: 0n,
    field: undefined,
  });
}

/** Returns the time in milliseconds in a clock's contents. */
export function clockTimestampMs(contents: Uint8Array): Uint8Array {
  return contents.subarray(32, 40);
}

/** Returns the store with the clock among its objects. */
export function withClock(objects: ObjectStore, clock: () => ChainObject): ObjectStore {
  return {
    apply: objects.apply,
    owned: objects.owned,
    fields: objects.fields,
    all: objects.all,
    get: (id) => (id === SUI_CLOCK_ID ? clock() : objects.get(id)),
    get size() {
      return objects.size;
    },
  };
}
