import { bcs } from "@mysten/sui/bcs";
import { normalizeSuiAddress } from "@mysten/sui/utils";
import { Address } from "../../../protocol/chain/fast-bcs.ts";
import { fieldParts } from "./dynamic-fields.ts";
import type { ChainObject } from "./object.ts";
import type { ObjectStore } from "./object-store.ts";
import { addressBytes, balanceType, SUI_FRAMEWORK } from "./sui-types.ts";

/**
 * Returns all balances of an address outside of coins, by coin type, in the smallest unit. Each is in an accumulator: a
 * dynamic field of the accumulator root with the name `0x2::accumulator::Key<0x2::balance::Balance<T>>` and the value
 * `0x2::accumulator::U128`. It exists while the balance is above zero. Sources: `sui-types/src/accumulator_root.rs` and
 * `sui-core/src/accumulators/design_docs/data_model.md`.
 */
export function addressBalances(objects: ObjectStore, address: string): ReadonlyMap<string, bigint> {
  const balances = new Map<string, bigint>();
  for (const { field, contents } of objects.fields(ROOT_ID)) {
    const { owner, value } = Accumulator.parse(contents);
    if (field === undefined || owner !== address) continue;
    balances.set(field.nameType.slice(KEY_PREFIX.length, -KEY_SUFFIX.length), BigInt(value));
  }
  return balances;
}

/** The id of the accumulator root, a shared object. */
export const ROOT_ID = normalizeSuiAddress("0xacc");
/** The type of the accumulator root. */
export const ROOT_TYPE = `${SUI_FRAMEWORK}::accumulator::AccumulatorRoot`;

/** Returns the id of the accumulator of an address and a coin type. It exists while the balance is above zero. */
export function accumulatorId(address: string, coinType: string): string {
  return accumulatorParts(address, coinType, 0n).id;
}

/** Returns an address's balance of a coin type outside of coins, in the smallest unit. */
export function addressBalance(
  lookup: (id: string) => ChainObject | undefined,
  address: string,
  coinType: string,
): bigint {
  const accumulator = lookup(accumulatorId(address, coinType));
  return accumulator === undefined ? 0n : BigInt(Accumulator.parse(accumulator.contents).value);
}

/** An accumulator's layout: `0x2::dynamic_field::Field<Key<Balance<T>>, U128>`. */
export const Accumulator = bcs.struct("Accumulator", {
  id: Address,
  owner: Address,
  value: bcs.u128(),
});
const KEY_PREFIX = `${SUI_FRAMEWORK}::accumulator::Key<${SUI_FRAMEWORK}::balance::Balance<`;
const KEY_SUFFIX = ">>";

/** Returns the parts of an accumulator object. */
export function accumulatorParts(address: string, coinType: string, balance: bigint) {
  const name = {
    type: `${SUI_FRAMEWORK}::accumulator::Key<${balanceType(coinType)}>`,
    bytes: addressBytes(address),
  };
  const value = bcs.u128().serialize(balance).toBytes();
  return fieldParts(ROOT_ID, name, `${SUI_FRAMEWORK}::accumulator::U128`, value);
}
