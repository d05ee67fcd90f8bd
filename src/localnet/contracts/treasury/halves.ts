import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  addField,
  addObject,
  borrowObject,
  type FieldName,
  fieldValue,
  idName,
  removeField,
  removeObject,
} from "../../fullnode/objects/dynamic-fields.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { type TreasuryCall, treasuryType } from "./treasury-state.ts";

/** A half, by what the Treasury knows of it. */
export interface KeptHalf {
  readonly dwalletId: string;
  readonly presignId: string;
  /** The number of epochs for which the Treasury keeps it. */
  readonly epochs: bigint;
}

/** Stores the capability of a user's half until the last of its epochs has passed. */
export function keepHalf(
  call: TreasuryCall,
  cap: WorkingObject,
  { dwalletId, presignId, epochs }: KeptHalf,
): void {
  if (epochs === 0n || epochs > MAX_HALF_EPOCHS)
    abortTreasury(call, "custody::keep_half", "custody:BadPeriod");
  const live = halvesOf(call, dwalletId).filter(({ last_epoch }) => BigInt(last_epoch) >= call.epoch);
  if (live.length >= MAX_HALVES) abortTreasury(call, "custody::keep_half", "custody:TooManyHalves");
  const half = { presign_id: presignId, last_epoch: (call.epoch + epochs).toString() };
  writeHalves(call, dwalletId, [...live, half]);
  addObject(call.state, fieldsOf(call), halfName(call, presignId), cap);
}

/** Takes the capability of a half out of the Treasury. Aborts unless the half can still be completed. */
export function takeHalf(call: TreasuryCall, dwalletId: string, presignId: string): WorkingObject {
  const halves = halvesOf(call, dwalletId);
  const half = halves.find(({ presign_id }) => presign_id === presignId);
  if (half === undefined || BigInt(half.last_epoch) < call.epoch)
    return abortTreasury(call, "custody::take_half", "custody:UnknownHalf");
  writeHalves(
    call,
    dwalletId,
    halves.filter((one) => one !== half),
  );
  const name = halfName(call, presignId);
  const cap = borrowObject(call.state, fieldsOf(call), name);
  removeObject(call.state, fieldsOf(call), name);
  return cap;
}

/** Ends all halves of a dWallet. Their capabilities stay in the Treasury, out of reach. */
export function forgetHalves(call: TreasuryCall, dwalletId: string): void {
  const name = listName(call, dwalletId);
  if (fieldValue(call.state, fieldsOf(call), name) !== undefined)
    removeField(call.state, fieldsOf(call), name);
}

const MAX_HALVES = 64;
const MAX_HALF_EPOCHS = 31n;

const Half = bcs.struct("Half", { presign_id: Address, last_epoch: U64 });
const Halves = bcs.vector(Half);

function halvesOf(call: TreasuryCall, dwalletId: string): (typeof Half.$inferType)[] {
  const found = fieldValue(call.state, fieldsOf(call), listName(call, dwalletId));
  return found === undefined ? [] : Halves.parse(found);
}

function writeHalves(
  call: TreasuryCall,
  dwalletId: string,
  halves: readonly (typeof Half.$inferType)[],
): void {
  forgetHalves(call, dwalletId);
  const type = `vector<${treasuryType(call.addresses, "custody::Half")}>`;
  const value = Halves.serialize([...halves]).toBytes();
  addField(call.state, fieldsOf(call), listName(call, dwalletId), type, value);
}

function listName(call: TreasuryCall, dwalletId: string): FieldName {
  return { type: treasuryType(call.addresses, "custody::HalvesOf"), bytes: idName(dwalletId).bytes };
}

function halfName(call: TreasuryCall, presignId: string): FieldName {
  return { type: treasuryType(call.addresses, "custody::HalfOf"), bytes: idName(presignId).bytes };
}

/** The dynamic fields of the Treasury object itself. */
const fieldsOf = (call: TreasuryCall) => ({ id: call.self.id, size: "1" });
