import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import { TreasuryObject } from "../../../protocol/chain/treasury-custody.ts";
import {
  balanceOf,
  createCoin,
  type ExecutionState,
  type WorkingObject,
} from "../../fullnode/execution/execution-state.ts";
import { type FieldName, fieldValue } from "../../fullnode/objects/dynamic-fields.ts";
import { coinObjectType, SUI_COIN_TYPE } from "../../fullnode/objects/sui-types.ts";
import type { NetworkAddresses } from "../addresses.ts";
import type { PaymentCoins } from "../coordinator/payment.ts";
import { abortTreasury } from "./treasury-aborts.ts";

/** A call of a function of the Treasury's package, with the Treasury that it changes. */
export interface TreasuryCall {
  readonly state: ExecutionState;
  readonly addresses: NetworkAddresses;
  /** The Treasury. */
  readonly self: WorkingObject;
  readonly sender: string;
  readonly epoch: bigint;
}

/** The package version that a Treasury object must carry. */
export const TREASURY_VERSION = 1n;

/** The operations that the Treasury pays for, with their numbers in the price ceilings. */
export const TreasuryOperation = {
  Dkg: 0,
  Presign: 1,
  Sign: 2,
  Share: 3,
  Import: 4,
  FutureSign: 5,
  PartialSign: 6,
} as const;

/** The zero address: nobody holds the role. */
export const NOBODY = `0x${"00".repeat(32)}`;

/** The layout of `AdminCap` and `OperatorCap`. */
export const TreasuryCap = bcs.struct("TreasuryCap", { id: Address, treasury_id: Address });

export const PriceKey = bcs.struct("PriceKey", {
  op: bcs.u8(),
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
});

/** The price ceiling of one operation, in the smallest units. */
export const Ceiling = bcs.struct("Ceiling", { ika: U64, sui: U64 });

/** Returns the name of a type of the Treasury's package, such as `treasury::Treasury`. */
export function treasuryType(addresses: NetworkAddresses, name: `${string}::${string}`): string {
  return `${addresses.treasuryPackageId}::${name}`;
}

/** Returns the name of a ceiling's dynamic field. */
export function ceilingName(
  addresses: NetworkAddresses,
  op: number,
  curve: number,
  algorithm: number,
): FieldName {
  const bytes = PriceKey.serialize({ op, curve, signature_algorithm: algorithm }).toBytes();
  return { type: treasuryType(addresses, "treasury::PriceKey"), bytes };
}

/** Returns the decoded Treasury. All readers in the transaction share it, so it must not be changed. */
export function treasuryOf(call: TreasuryCall): typeof TreasuryObject.$inferType {
  return call.state.read(call.self, TreasuryObject);
}

export function updateTreasury(
  { state, self }: TreasuryCall,
  change: (value: typeof TreasuryObject.$inferType) => void,
): void {
  state.update(self, TreasuryObject, change);
}

/** Aborts unless the Treasury has {@link TREASURY_VERSION}. */
export function assertVersion(call: TreasuryCall): void {
  if (BigInt(treasuryOf(call).version) !== TREASURY_VERSION)
    abortTreasury(call, "treasury::assert_version", "treasury:WrongVersion");
}

/** Withdraws `count` times the ceiling of an operation from the Treasury, or the whole balance if that is less. */
export function takeCeiling(
  call: TreasuryCall,
  key: { readonly op: number; readonly curve: number; readonly signatureAlgorithm: number },
  count: bigint,
): PaymentCoins {
  const { state, addresses } = call;
  const value = treasuryOf(call);
  const name = ceilingName(addresses, key.op, key.curve, key.signatureAlgorithm);
  const found = fieldValue(state, value.ceilings, name);
  if (found === undefined) return abortTreasury(call, "treasury::take", "treasury:PriceCeiling");
  const ceiling = Ceiling.parse(found);
  const atMost = (each: string, balance: string) => {
    const wanted = BigInt(each) * count;
    return wanted < BigInt(balance) ? wanted : BigInt(balance);
  };
  const [ika, sui] = [atMost(ceiling.ika, value.ika), atMost(ceiling.sui, value.sui)];
  addBalances(call, -ika, -sui);
  return {
    ika: createCoin(state, coinObjectType(addresses.ikaCoinType), ika),
    sui: createCoin(state, SUI_COIN_TYPE, sui),
  };
}

/** Returns the rest of a payment to the Treasury. */
export function giveBack(call: TreasuryCall, payment: PaymentCoins): void {
  const { state } = call;
  addBalances(call, balanceOf(state, payment.ika), balanceOf(state, payment.sui));
  state.remove(payment.ika);
  state.remove(payment.sui);
}

/** Adds amounts, which may be negative, to the Treasury's balances. */
export function addBalances(call: TreasuryCall, ika: bigint, sui: bigint): void {
  updateTreasury(call, (value) => {
    value.ika = (BigInt(value.ika) + ika).toString();
    value.sui = (BigInt(value.sui) + sui).toString();
  });
}

/** Creates a cap of this Treasury for an address. Returns the cap's id. */
export function giveCap(
  call: {
    readonly state: ExecutionState;
    readonly addresses: NetworkAddresses;
    readonly self: WorkingObject;
  },
  name: "roles::AdminCap" | "treasury::OperatorCap",
  holder: string,
): string {
  const { state, addresses, self } = call;
  const id = state.newId();
  const contents = TreasuryCap.serialize({ id, treasury_id: self.id }).toBytes();
  state.create({
    id,
    type: treasuryType(addresses, name),
    contents,
    owner: { kind: "address", address: holder },
  });
  return id;
}
