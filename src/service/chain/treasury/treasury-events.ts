import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "../../../protocol/chain/fast-bcs.ts";
import type { ChainEvent } from "../operation.ts";

/** `treasury::DkgPaid` and `treasury::ImportPaid` of `move/treasury`. */
const DkgPaid = bcs.struct("DkgPaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  dwallet_id: Address,
  dwallet_cap_id: Address,
  curve: bcs.u32(),
  owner: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/** `treasury::SignPaid` of `move/treasury`. */
const SignPaid = bcs.struct("SignPaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  sign_id: Address,
  dwallet_id: Address,
  presign_id: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/** `treasury::SharePaid` of `move/treasury`. */
const SharePaid = bcs.struct("SharePaid", {
  treasury_id: Address,
  operator_cap_id: Address,
  dwallet_id: Address,
  recipient: Address,
  ika: U64,
  sui: U64,
  request_ref: bcs.byteVector(),
});

/**
 * Returns the service's ids of the DKGs and imports that a transaction paid for, by the dWallet's object id. Those with
 * references of another service are left out.
 */
export function paidDkgs(events: readonly ChainEvent[]): ReadonlyMap<string, string> {
  const paid = newDWallets(events).map((content) => DkgPaid.parse(content));
  return references(paid.map(({ dwallet_id, request_ref }) => [dwallet_id, request_ref]));
}

/** Returns the shares that a transaction paid for: the dWallet's object id and the service's reference of each. */
export function paidShares(events: readonly ChainEvent[]): readonly PaidShare[] {
  return ofType(events, "SharePaid").map((content) => {
    const { dwallet_id: dwalletId, request_ref } = SharePaid.parse(content);
    return { dwalletId, reference: new TextDecoder().decode(Uint8Array.from(request_ref)) };
  });
}

/** A share for another user that the Treasury has paid for. */
interface PaidShare {
  readonly dwalletId: string;
  /** The id of the service's row, or any other text. */
  readonly reference: string;
}

/** Returns the service's ids of the signatures, by the sign session's object id. */
export function paidSigns(events: readonly ChainEvent[]): ReadonlyMap<string, string> {
  const paid = ofType(events, "SignPaid").map((content) => SignPaid.parse(content));
  return references(paid.map(({ sign_id, request_ref }) => [sign_id, request_ref]));
}

/** Returns what the Treasury paid to Ika in a transaction, by the object id of the dWallet or the sign session. */
export function paidFees(events: readonly ChainEvent[]): ReadonlyMap<string, PaidFee> {
  const fee = ({ ika, sui }: { ika: string; sui: string }) => ({ ika: BigInt(ika), sui: BigInt(sui) });
  return new Map([
    ...newDWallets(events).map((content) => {
      const paid = DkgPaid.parse(content);
      return [paid.dwallet_id, fee(paid)] as const;
    }),
    ...ofType(events, "SignPaid").map((content) => {
      const paid = SignPaid.parse(content);
      return [paid.sign_id, fee(paid)] as const;
    }),
  ]);
}

/** What the Treasury paid for one operation, in the smallest units of IKA and SUI. */
export interface PaidFee {
  readonly ika: bigint;
  readonly sui: bigint;
}

function newDWallets(events: readonly ChainEvent[]): Uint8Array[] {
  return [...ofType(events, "DkgPaid"), ...ofType(events, "ImportPaid")];
}

function ofType(events: readonly ChainEvent[], name: string): Uint8Array[] {
  return events.filter(({ type }) => type.endsWith(`::treasury::${name}`)).map((event) => event.bcs);
}

/** Every row's id is a UUID. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function references(paid: readonly (readonly [string, Iterable<number>])[]): ReadonlyMap<string, string> {
  const texts = paid.map(([id, bytes]) => [id, new TextDecoder().decode(Uint8Array.from(bytes))] as const);
  return new Map(texts.filter(([, text]) => UUID.test(text)));
}
