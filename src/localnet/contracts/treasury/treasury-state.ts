import { bcs } from "@mysten/sui/bcs";
import { type FieldName, fieldValue } from "../../fullnode/dynamic-fields.ts";
import {
  balanceOf,
  createCoin,
  type ExecutionState,
  type WorkingObject,
} from "../../fullnode/execution-state.ts";
import { moveAbort } from "../../fullnode/failures.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../fullnode/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import type { PaymentCoins } from "../coordinator/payment.ts";

/** The package version that a Treasury object must carry. */
export const TREASURY_VERSION = 1n;

/** The operations that the Treasury pays for, with their numbers in the price ceilings. */
export const TreasuryOperation = { Dkg: 0, Presign: 1, Sign: 2 } as const;

/** Abort codes of `treasury::treasury`. */
export const TreasuryAbort = {
  WrongVersion: 1,
  Paused: 2,
  OperatorRevoked: 3,
  AdminMismatch: 4,
  PriceCeiling: 5,
  UnknownDWallet: 6,
  UnknownPresign: 7,
  Insufficient: 8,
  BadBatch: 9,
  UnknownOperator: 10,
  NothingToMigrate: 11,
  WrongCurve: 12,
} as const;

const Table = bcs.struct("Table", { id: bcs.Address, size: bcs.u64() });

/** `treasury::treasury::Treasury` */
export const Treasury = bcs.struct("Treasury", {
  id: bcs.Address,
  version: bcs.u64(),
  paused: bcs.bool(),
  ika: bcs.u64(),
  sui: bcs.u64(),
  operators: bcs.vector(bcs.Address),
  ceilings: Table,
  dwallet_caps: Table,
  presign_caps: Table,
  dwallet_curves: Table,
});

/** `AdminCap` and `OperatorCap` of a Treasury. */
export const TreasuryCap = bcs.struct("TreasuryCap", { id: bcs.Address, treasury_id: bcs.Address });

/** The key of a price ceiling. */
export const PriceKey = bcs.struct("PriceKey", {
  op: bcs.u8(),
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
});

/** The price ceiling of one operation, in the smallest units. */
export const Ceiling = bcs.struct("Ceiling", { ika: bcs.u64(), sui: bcs.u64() });

/** The Move type names of the Treasury's package. */
export function treasuryType(addresses: NetworkAddresses, name: string): string {
  return `${addresses.treasuryPackageId}::treasury::${name}`;
}

/** Throws an abort of the Treasury's own module. */
export function abortTreasury(
  addresses: NetworkAddresses,
  functionName: string,
  reason: keyof typeof TreasuryAbort,
): never {
  throw moveAbort(`${addresses.treasuryPackageId}::treasury::${functionName}`, TreasuryAbort[reason]);
}

/** The name of a ceiling's field. */
export function ceilingName(
  addresses: NetworkAddresses,
  op: number,
  curve: number,
  algorithm: number,
): FieldName {
  const bytes = PriceKey.serialize({ op, curve, signature_algorithm: algorithm }).toBytes();
  return { type: treasuryType(addresses, "PriceKey"), bytes };
}

/** Emits an event of the Treasury. */
export function emitTreasury(
  state: ExecutionState,
  addresses: NetworkAddresses,
  name: string,
  contents: { toBytes(): Uint8Array },
): void {
  state.emit({
    packageId: addresses.treasuryPackageId,
    module: "treasury",
    type: treasuryType(addresses, name),
    contents: contents.toBytes(),
  });
}

/** Aborts unless the Treasury has this version. */
export function assertVersion(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
): void {
  if (BigInt(state.read(treasury, Treasury).version) !== TREASURY_VERSION)
    abortTreasury(addresses, "assert_version", "WrongVersion");
}

/** Aborts unless the Treasury has this version, is not paused, and has authorised the OperatorCap. */
export function assertOperator(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
  cap: WorkingObject,
): void {
  assertVersion(state, addresses, treasury);
  const value = state.read(treasury, Treasury);
  if (value.paused) abortTreasury(addresses, "assert_operator", "Paused");
  const { treasury_id } = state.read(cap, TreasuryCap);
  if (treasury_id !== treasury.id || !value.operators.includes(cap.id)) {
    abortTreasury(addresses, "assert_operator", "OperatorRevoked");
  }
}

/** Aborts unless the Treasury has this version, and the AdminCap belongs to it. */
export function assertAdmin(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
  cap: WorkingObject,
): void {
  assertVersion(state, addresses, treasury);
  assertOwnAdmin(state, addresses, treasury, cap);
}

/** Aborts unless the AdminCap belongs to this Treasury. */
export function assertOwnAdmin(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
  cap: WorkingObject,
): void {
  if (state.read(cap, TreasuryCap).treasury_id !== treasury.id) {
    abortTreasury(addresses, "assert_own_admin", "AdminMismatch");
  }
}

/** Withdraws `count` times the ceiling of an operation from the Treasury, or all there is if that is less. */
export function takeCeiling(
  state: ExecutionState,
  addresses: NetworkAddresses,
  treasury: WorkingObject,
  key: { readonly op: number; readonly curve: number; readonly signatureAlgorithm: number },
  count: bigint,
): PaymentCoins {
  const value = state.read(treasury, Treasury);
  const name = ceilingName(addresses, key.op, key.curve, key.signatureAlgorithm);
  const found = fieldValue(state, value.ceilings, name);
  if (found === undefined) return abortTreasury(addresses, "take", "PriceCeiling");
  const ceiling = Ceiling.parse(found);
  const atMost = (each: string, balance: string) => {
    const wanted = BigInt(each) * count;
    return wanted < BigInt(balance) ? wanted : BigInt(balance);
  };
  const [ika, sui] = [atMost(ceiling.ika, value.ika), atMost(ceiling.sui, value.sui)];
  addBalances(state, treasury, -ika, -sui);
  return {
    ika: createCoin(state, coinObjectType(addresses.ikaCoinType), ika),
    sui: createCoin(state, SUI_COIN_TYPE, sui),
  };
}

/** Returns the rest of a payment to the Treasury. */
export function giveBack(state: ExecutionState, treasury: WorkingObject, payment: PaymentCoins): void {
  addBalances(state, treasury, balanceOf(state, payment.ika), balanceOf(state, payment.sui));
  state.remove(payment.ika);
  state.remove(payment.sui);
}

/** Changes the Treasury's balances. */
export function addBalances(state: ExecutionState, treasury: WorkingObject, ika: bigint, sui: bigint): void {
  state.update(treasury, Treasury, (value) => {
    value.ika = (BigInt(value.ika) + ika).toString();
    value.sui = (BigInt(value.sui) + sui).toString();
  });
}
