import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { bcs } from "@mysten/sui/bcs";
import { U64 } from "../../../protocol/chain/fast-bcs.ts";
import { TreasuryDWallet } from "../../../protocol/chain/treasury-custody.ts";
import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import {
  addField,
  addObject,
  borrowObject,
  fieldValue,
  findObject,
  idName,
  removeField,
  removeObject,
} from "../../fullnode/objects/dynamic-fields.ts";
import { forgetHalves } from "./halves.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { treasuryOf, treasuryType, updateTreasury } from "./treasury-state.ts";

const { DWalletCap, ImportedKeyDWalletCap, UnverifiedPresignCap } = CoordinatorInnerModule;

/** The Treasury's record of a dWallet that it holds. */
export type HeldDWalletFields = typeof TreasuryDWallet.$inferType;

/** Returns true if the Treasury holds the capability of this dWallet or imported key. */
export function hasDWallet(call: TreasuryCall, dwalletId: string): boolean {
  return fieldValue(call.state, treasuryOf(call).custody.dwallets, idName(dwalletId)) !== undefined;
}

/** Returns true if the Treasury holds the capability of this presign. */
export function hasPresign(call: TreasuryCall, presignId: string): boolean {
  return findObject(call.state, treasuryOf(call).custody.presign_caps, idName(presignId)) !== undefined;
}

/** Aborts unless the Treasury holds the capability of this dWallet. */
export function assertDWallet(call: TreasuryCall, dwalletId: string): void {
  if (!hasDWallet(call, dwalletId)) abortTreasury(call, "custody::dwallet", "custody:UnknownDWallet");
}

/** Returns the capability of a dWallet that the Treasury holds. Aborts if it is an imported key. */
export function dwalletCap(call: TreasuryCall, dwalletId: string): WorkingObject {
  const cap = findObject(call.state, treasuryOf(call).custody.dwallet_caps, idName(dwalletId));
  return cap ?? abortTreasury(call, "custody::dwallet", "custody:WrongKind");
}

/** Returns the capability of an imported key that the Treasury holds. Aborts if it is no imported key. */
export function importedKeyCap(call: TreasuryCall, dwalletId: string): WorkingObject {
  const cap = findObject(call.state, fieldsOf(call), idName(dwalletId));
  return cap ?? abortTreasury(call, "custody::imported_key", "custody:WrongKind");
}

/** Returns true if a dWallet that the Treasury holds is an imported key. */
export function isImportedKey(call: TreasuryCall, dwalletId: string): boolean {
  return findObject(call.state, treasuryOf(call).custody.dwallet_caps, idName(dwalletId)) === undefined;
}

/** Returns the curve of a dWallet or imported key. Aborts if the Treasury does not hold it. */
export function curveOf(call: TreasuryCall, dwalletId: string): number {
  if (!hasDWallet(call, dwalletId)) abortTreasury(call, "custody::curve", "custody:UnknownDWallet");
  return heldDWallet(call, dwalletId).curve;
}

/** Returns the Treasury's record of a dWallet. Aborts if the Treasury does not hold the dWallet. */
export function heldDWallet(call: TreasuryCall, dwalletId: string): HeldDWalletFields {
  assertDWallet(call, dwalletId);
  const found = fieldValue(call.state, treasuryOf(call).custody.dwallets, idName(dwalletId));
  if (found === undefined) throw new Error(`the Treasury holds dWallet ${dwalletId} without its record`);
  return TreasuryDWallet.parse(found);
}

/** Changes the Treasury's record of a dWallet that it holds. */
export function updateDWallet(
  call: TreasuryCall,
  dwalletId: string,
  change: Partial<HeldDWalletFields>,
): void {
  const fields = { ...heldDWallet(call, dwalletId), ...change };
  updateTreasury(call, ({ custody }) => {
    removeField(call.state, custody.dwallets, idName(dwalletId));
    addRecord(call, custody.dwallets, dwalletId, fields);
  });
}

/** Puts a dWallet's capability into the Treasury, and returns the dWallet's id. */
export function keepDWallet(call: TreasuryCall, cap: WorkingObject, curve: number, owner: string): string {
  const { dwallet_id: dwalletId } = call.state.read(cap, DWalletCap);
  updateTreasury(call, ({ custody }) => {
    addObject(call.state, custody.dwallet_caps, idName(dwalletId), cap);
    addRecord(call, custody.dwallets, dwalletId, { curve, owner, is_refused: false, release: null });
  });
  return dwalletId;
}

/** Puts the capability of an imported key into the Treasury, and returns the dWallet's id. */
export function keepImportedKey(
  call: TreasuryCall,
  cap: WorkingObject,
  curve: number,
  owner: string,
): string {
  const { dwallet_id: dwalletId } = call.state.read(cap, ImportedKeyDWalletCap);
  addObject(call.state, fieldsOf(call), idName(dwalletId), cap);
  updateTreasury(call, ({ custody }) => {
    addRecord(call, custody.dwallets, dwalletId, { curve, owner, is_refused: false, release: null });
  });
  return dwalletId;
}

/** Takes the capability of a dWallet or imported key out of the Treasury. Aborts if it does not hold it. */
export function takeDWallet(
  call: TreasuryCall,
  dwalletId: string,
): HeldDWalletFields & { readonly cap: WorkingObject } {
  const fields = heldDWallet(call, dwalletId);
  forgetAnnounced(call, dwalletId);
  forgetHalves(call, dwalletId);
  const name = idName(dwalletId);
  const caps = treasuryOf(call).custody.dwallet_caps;
  const isImported = isImportedKey(call, dwalletId);
  const cap = isImported ? importedKeyCap(call, dwalletId) : borrowObject(call.state, caps, name);
  updateTreasury(call, ({ custody }) => {
    if (isImported) removeObject(call.state, fieldsOf(call), idName(dwalletId));
    else removeObject(call.state, custody.dwallet_caps, name);
    removeField(call.state, custody.dwallets, name);
  });
  return { ...fields, cap };
}

/** Puts a presign's capability into the Treasury, and returns the presign's id. */
export function keepPresign(call: TreasuryCall, cap: WorkingObject): string {
  const { presign_id: presignId } = call.state.read(cap, UnverifiedPresignCap);
  updateTreasury(call, ({ custody }) => addObject(call.state, custody.presign_caps, idName(presignId), cap));
  return presignId;
}

/** Takes a presign's capability out of the Treasury. Aborts if it does not hold it. */
export function takePresign(call: TreasuryCall, presignId: string): WorkingObject {
  if (!hasPresign(call, presignId))
    return abortTreasury(call, "custody::take_presign", "custody:UnknownPresign");
  const cap = borrowObject(call.state, treasuryOf(call).custody.presign_caps, idName(presignId));
  updateTreasury(call, ({ custody }) => {
    removeObject(call.state, custody.presign_caps, idName(presignId));
  });
  return cap;
}

/** Returns the number of consents that a dWallet's owner has used. */
export function consentsUsed(call: TreasuryCall, dwalletId: string): bigint {
  const found = fieldValue(call.state, treasuryOf(call).custody.nonces, idName(dwalletId));
  return found === undefined ? 0n : BigInt(U64.parse(found));
}

/** Increments the number of consents that a dWallet's owner has used. */
export function countConsent(call: TreasuryCall, dwalletId: string): void {
  const used = consentsUsed(call, dwalletId);
  const name = idName(dwalletId);
  updateTreasury(call, ({ custody: { nonces } }) => {
    if (used > 0n) removeField(call.state, nonces, name);
    addField(
      call.state,
      nonces,
      name,
      "u64",
      bcs
        .u64()
        .serialize(used + 1n)
        .toBytes(),
    );
  });
}

/** Removes a dWallet from the list of announced releases. */
export function forgetAnnounced(call: TreasuryCall, dwalletId: string): void {
  const position = treasuryOf(call).custody.announced.indexOf(dwalletId);
  if (position < 0) return;
  updateTreasury(call, ({ custody: { announced } }) => {
    const last = announced.pop()!;
    if (position < announced.length) announced[position] = last;
  });
}

function addRecord(
  call: TreasuryCall,
  table: { id: string; size: string },
  dwalletId: string,
  fields: HeldDWalletFields,
): void {
  const type = treasuryType(call.addresses, "custody::DWallet");
  addField(call.state, table, idName(dwalletId), type, TreasuryDWallet.serialize(fields).toBytes());
}

/** The dynamic fields of the Treasury object itself, by dWallet id: the capabilities of imported keys. */
const fieldsOf = (call: TreasuryCall) => ({ id: call.self.id, size: "1" });

/** Runs `transfer::public_transfer`. */
export function handOver(object: WorkingObject, recipient: string): void {
  object.owner = { kind: "address", address: recipient };
  object.mutated = true;
}
