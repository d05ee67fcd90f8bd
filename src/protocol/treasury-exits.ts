import { bcs } from "@mysten/sui/bcs";

/** Returns the exits of dWallets that a transaction made, from its events. */
export function dwalletExits(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
): DWalletExit[] {
  return ofType(events, "DWalletLeft").map((content) => {
    const event = DWalletLeft.parse(content);
    return {
      treasuryId: event.treasury_id,
      dwalletId: event.dwallet_id,
      dwalletCapId: event.dwallet_cap_id,
      owner: event.owner,
      recipient: event.recipient,
    };
  });
}

/** A capability that a dWallet's owner has taken out of a Treasury. */
export interface DWalletExit {
  readonly treasuryId: string;
  readonly dwalletId: string;
  readonly dwalletCapId: string;
  readonly owner: string;
  readonly recipient: string;
}

/** Returns the dWallets whose release a transaction forbade, from its events. */
export function refusedReleases(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
): { readonly treasuryId: string; readonly dwalletId: string }[] {
  return ofType(events, "ReleaseRefused").map((content) => {
    const { treasury_id: treasuryId, dwallet_id: dwalletId } = ReleaseRefused.parse(content);
    return { treasuryId, dwalletId };
  });
}

const DWalletLeft = bcs.struct("DWalletLeft", {
  treasury_id: bcs.Address,
  dwallet_id: bcs.Address,
  dwallet_cap_id: bcs.Address,
  owner: bcs.Address,
  recipient: bcs.Address,
});
const ReleaseRefused = bcs.struct("ReleaseRefused", {
  treasury_id: bcs.Address,
  dwallet_id: bcs.Address,
  owner: bcs.Address,
});

function ofType(
  events: readonly { readonly type: string; readonly bcs: Uint8Array }[],
  name: string,
): Uint8Array[] {
  return events.filter(({ type }) => type.endsWith(`::custody::${name}`)).map((event) => event.bcs);
}
