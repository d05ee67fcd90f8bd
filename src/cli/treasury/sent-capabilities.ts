import { bcs } from "@mysten/sui/bcs";
import type { SuiClientTypes } from "@mysten/sui/client";
import { normalizeStructTag } from "@mysten/sui/utils";
import {
  readTreasuryObject,
  type SharedTreasury,
} from "../../service/chain/treasury/read-treasury-object.ts";
import type { OwnedRef } from "../../service/chain/treasury/treasury-calls.ts";
import type { OpenTreasury } from "./open-treasury.ts";

/**
 * Returns capabilities that another Treasury has moved to this one, at most as many as one transaction takes in. Anyone
 * can send a capability, and emit such an event from a package of their own. So only events of that Treasury's package
 * count, which creates only one Treasury.
 */
export async function findSent(treasury: OpenTreasury, predecessorId: string): Promise<SentCapability[]> {
  const predecessor = await readTreasuryObject(treasury.client, predecessorId);
  const readMoved = movedBy(treasury, predecessor);
  const sent: SentCapability[] = [];
  for (const type of capabilityTypes(treasury)) {
    let cursor: string | null = null;
    for (let page = 0; page < MAX_PAGES && sent.length < MAX_TAKEN_IN; page += 1) {
      const listed = await listSent(treasury, type, cursor);
      for (const { objectId, version, digest, previousTransaction } of listed.objects) {
        const moved = (await readMoved(previousTransaction ?? "")).get(objectId);
        const ref = { objectId, version, digest };
        if (moved !== undefined)
          sent.push({ ref, dwallet: moved.dwallet, isImportedKey: isImportedKeyCap(type) });
      }
      if (!listed.hasNextPage) break;
      cursor = listed.cursor;
    }
  }
  return sent.slice(0, MAX_TAKEN_IN);
}

/** Reads one capability that was sent to the Treasury. */
export async function readSent(
  treasury: OpenTreasury,
  id: string,
  dwallet: SentCapability["dwallet"],
): Promise<SentCapability> {
  const { object } = await treasury.client.core.getObject({ objectId: id });
  const { objectId, version, digest, type, owner } = object;
  if (
    !capabilityTypes(treasury).includes(normalizeStructTag(type)) ||
    owner.AddressOwner !== treasury.treasuryId
  )
    throw new Error(`${id} is a ${type}, not a capability that was sent to this Treasury`);
  const isImportedKey = isImportedKeyCap(type);
  const isOfDWallet = isImportedKey || type.endsWith("::DWalletCap");
  if (isOfDWallet && dwallet === undefined) throw new Error("--curve and --owner are missing for a dWallet");
  return { ref: { objectId, version, digest }, dwallet: isOfDWallet ? dwallet : undefined, isImportedKey };
}

/** A capability that the Treasury can take in. */
export interface SentCapability {
  readonly ref: OwnedRef;
  /** Undefined for a presign. */
  readonly dwallet: { readonly curve: number; readonly owner: string } | undefined;
  readonly isImportedKey: boolean;
}

const MAX_TAKEN_IN = 50;
/** Bounds the search, because strangers may have sent capabilities too. */
const MAX_PAGES = 100;

/** `custody::DWalletMoved` of `move/treasury`. */
const DWalletMoved = bcs.struct("DWalletMoved", {
  treasury_id: bcs.Address,
  dwallet_id: bcs.Address,
  dwallet_cap_id: bcs.Address,
  curve: bcs.u32(),
  owner: bcs.Address,
  successor: bcs.Address,
});
/** `custody::PresignMoved` of `move/treasury`. */
const PresignMoved = bcs.struct("PresignMoved", {
  treasury_id: bcs.Address,
  presign_id: bcs.Address,
  presign_cap_id: bcs.Address,
  successor: bcs.Address,
});

function listSent({ client, treasuryId }: OpenTreasury, type: string, cursor: string | null) {
  const include = { previousTransaction: true } as const;
  return client.core.listOwnedObjects({ owner: treasuryId, type, cursor, include });
}

function capabilityTypes({ ikaConfig }: OpenTreasury): string[] {
  const module = `${ikaConfig.packages.ikaDwallet2pcMpcOriginalPackage}::coordinator_inner`;
  return ["DWalletCap", "ImportedKeyDWalletCap", "UnverifiedPresignCap"].map((name) => `${module}::${name}`);
}

function isImportedKeyCap(type: string): boolean {
  return type.endsWith("::ImportedKeyDWalletCap");
}

/** Returns a function that reads the capabilities that a Treasury has moved in a transaction, by their ids. */
function movedBy({ client }: OpenTreasury, { typePackageId }: SharedTreasury) {
  const known = new Map<string, ReadonlyMap<string, Pick<SentCapability, "dwallet">>>();
  return async (digest: string) => {
    const found = known.get(digest) ?? toMoved(await eventsOf(digest));
    known.set(digest, found);
    return found;
  };

  async function eventsOf(digest: string): Promise<readonly SuiClientTypes.Event[]> {
    const result = await client.core.getTransaction({ digest, include: { events: true } });
    return result.Transaction?.events ?? [];
  }

  function toMoved(events: readonly SuiClientTypes.Event[]) {
    const moved = new Map<string, Pick<SentCapability, "dwallet">>();
    for (const { eventType, bcs: content } of events) {
      const type = normalizeStructTag(eventType);
      if (type === `${typePackageId}::custody::DWalletMoved`) {
        const { dwallet_cap_id, curve, owner } = DWalletMoved.parse(content);
        moved.set(dwallet_cap_id, { dwallet: { curve, owner } });
      } else if (type === `${typePackageId}::custody::PresignMoved`) {
        moved.set(PresignMoved.parse(content).presign_cap_id, { dwallet: undefined });
      }
    }
    return moved;
  }
}
