import type { NetworkReader } from "../../chain/reader.ts";
import { ServiceError } from "../../errors/service-error.ts";
import type { ChainReader } from "../../protocol/chain-reader.ts";
import {
  custodyPlaces,
  type HeldDWallet,
  parseHeldDWallet,
  parseNextNonce,
} from "../../protocol/treasury-custody.ts";

/**
 * Reads the Treasury's record of a dWallet from the chain. Throws CHAIN_UNAVAILABLE, also if the fullnode does not know
 * the dWallet yet: one transaction creates the dWallet and gives its capability to the Treasury, so only a fullnode
 * that knows the dWallet can tell that the capability is gone.
 */
export async function readCustody(
  reader: ChainReader,
  treasuryId: string,
  dwalletId: string,
): Promise<Custody> {
  const treasury = await readTreasuryContent(reader, treasuryId);
  const { dwalletEntryId, nonceEntryId } = custodyPlaces(treasury, dwalletId);
  const objects = await reader.getObjects([dwalletId, dwalletEntryId, nonceEntryId]);
  if (!objects.has(dwalletId)) throw lacks("the dWallet");
  const entry = objects.get(dwalletEntryId);
  return {
    held: entry && parseHeldDWallet(entry),
    nextNonce: parseNextNonce(objects.get(nonceEntryId)),
    nonceEntryId,
  };
}

/** The Treasury's record of a dWallet. */
export interface Custody {
  /** Undefined if it does not hold the capability. */
  readonly held: HeldDWallet | undefined;
  readonly nextNonce: bigint;
  /** The id of the object that every consent of the dWallet writes. */
  readonly nonceEntryId: string;
}

/**
 * Returns whether the Treasury holds the capability of each of these dWallets. Omits dWallets that the fullnode does
 * not know. Throws CHAIN_UNAVAILABLE.
 */
export async function readHeld(
  reader: Pick<NetworkReader, "getObjects" | "ownedObjects">,
  treasuryId: string,
  dwalletIds: readonly string[],
): Promise<ReadonlyMap<string, Held>> {
  const treasury = await readTreasuryContent(reader, treasuryId);
  const entryIds = new Map(dwalletIds.map((id) => [id, custodyPlaces(treasury, id).dwalletEntryId]));
  // One request reads all of them, so that they belong to one state of the chain.
  const objects = await reader.ownedObjects([treasuryId, ...[...entryIds].flat()]);
  const versionOf = (id: string) => {
    const object = objects.get(id);
    return object && BigInt(object.version);
  };
  const treasuryVersion = versionOf(treasuryId);
  if (treasuryVersion === undefined) throw lacks("the Treasury");
  return new Map(
    [...entryIds].flatMap(([id, entryId]) => {
      if (!objects.has(id)) return [];
      const version = versionOf(entryId);
      return [[id, { isHeld: version !== undefined, version: version ?? treasuryVersion }] as const];
    }),
  );
}

export interface Held {
  readonly isHeld: boolean;
  /** The version of the capability's entry, or of the Treasury if there is no entry. */
  readonly version: bigint;
}

async function readTreasuryContent(reader: ChainReader, treasuryId: string): Promise<Uint8Array> {
  const content = (await reader.getObjects([treasuryId])).get(treasuryId);
  if (content === undefined) throw lacks("the Treasury");
  return content;
}

function lacks(what: string): ServiceError {
  return new ServiceError("CHAIN_UNAVAILABLE", `the fullnode does not know ${what}`);
}
