import { bcs } from "@mysten/sui/bcs";
import {
  custodyPlaces,
  TreasuryDWallet,
  TreasuryObject,
} from "../../../src/protocol/chain/treasury-custody.ts";

/** The tables of the tests' Treasury. */
const TABLES = {
  dwalletCaps: `0x${"d1".repeat(32)}`,
  presignCaps: `0x${"d2".repeat(32)}`,
  dwallets: `0x${"d3".repeat(32)}`,
  nonces: `0x${"d4".repeat(32)}`,
  ceilings: `0x${"d5".repeat(32)}`,
} as const;

const table = (id: string) => ({ id, size: "0" });

/** The content of a Treasury without funds and operators. */
export function treasuryContent(treasuryId: string): Uint8Array {
  const nobody = `0x${"00".repeat(32)}`;
  return TreasuryObject.serialize({
    id: treasuryId,
    version: 1n,
    paused: false,
    ika: 0n,
    sui: 0n,
    operators: [],
    roles: { admin_cap_id: nobody, pauser: nobody, recovery: nobody, offer: null },
    ceilings: table(TABLES.ceilings),
    custody: {
      dwallet_caps: table(TABLES.dwalletCaps),
      presign_caps: table(TABLES.presignCaps),
      dwallets: table(TABLES.dwallets),
      nonces: table(TABLES.nonces),
      announced: [],
      successor: null,
    },
  }).toBytes();
}

/** A dWallet in the custody of {@link treasuryContent}'s Treasury. */
export interface TestCustody {
  readonly dwalletId: string;
  readonly owner: string;
  /** Default: the zero address. */
  readonly capId?: string;
  readonly curveNumber?: number;
  /** The number of used consents. Default 0, for which there is no entry. */
  readonly nonce?: bigint;
  /** Whether the owner has refused a release. Default false. */
  readonly isRefused?: boolean;
}

/** The objects that show that the Treasury holds the dWallet, by their ids. */
export function custodyEntries(treasuryId: string, custody: TestCustody): Map<string, Uint8Array> {
  const {
    dwalletId,
    owner,
    capId = `0x${"00".repeat(32)}`,
    curveNumber = 0,
    nonce = 0n,
    isRefused = false,
  } = custody;
  const places = custodyPlaces(treasuryContent(treasuryId), dwalletId);
  const head = (id: string) => [
    ...bcs.Address.serialize(id).toBytes(),
    ...bcs.Address.serialize(dwalletId).toBytes(),
  ];
  const dwallet = TreasuryDWallet.serialize({
    curve: curveNumber,
    owner,
    is_refused: isRefused,
    release: null,
  });
  const entries = new Map([
    [places.dwalletEntryId, Uint8Array.from([...head(places.dwalletEntryId), ...dwallet.toBytes()])],
    [
      places.capEntryId,
      Uint8Array.from([...head(places.capEntryId), ...bcs.Address.serialize(capId).toBytes()]),
    ],
  ]);
  if (nonce > 0n) {
    const value = bcs.u64().serialize(nonce).toBytes();
    entries.set(places.nonceEntryId, Uint8Array.from([...head(places.nonceEntryId), ...value]));
  }
  return entries;
}

/** The Treasury, and its entries of the dWallet unless it records no owner. */
export function custodyObjects(
  treasuryId: string,
  { owner, ...custody }: Omit<TestCustody, "owner"> & { readonly owner: string | undefined },
): Map<string, Uint8Array> {
  const entries = owner === undefined ? [] : custodyEntries(treasuryId, { ...custody, owner });
  return new Map([...entries, [treasuryId, treasuryContent(treasuryId)]]);
}
