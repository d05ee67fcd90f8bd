import sql from "sql-template-tag";
import type { ChainReader } from "../../../protocol/chain/chain-reader.ts";
import {
  custodyPlaces,
  type HeldDWallet,
  parseHeldDWallet,
  parseNextNonce,
} from "../../../protocol/chain/treasury-custody.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { type Database, execute, type Queryable } from "../../platform/store/database.ts";
import { dwalletEventInsert, eventColumns } from "../dwallet-event.ts";

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

/**
 * Records that the Treasury does not hold the dWallet's capability: Active or Leaving -> Left. From then on nothing is
 * reserved, and no reservation is charged. Returns whether the state changed.
 */
export async function markDWalletLeft(
  db: Queryable,
  dwalletRowId: string,
  { txDigest, version }: Leaving = {},
): Promise<boolean> {
  const markedCount = await execute(
    db,
    sql`
WITH marked AS (
  UPDATE dwallet SET state = 'Left', leave_tx_digest = coalesce(${txDigest ?? null}::text, leave_tx_digest),
    left_version = ${version ?? null}::bigint, updated_at = now()
  WHERE id = ${dwalletRowId} AND state IN ('Active', 'Leaving') RETURNING id, ${eventColumns(sql`dwallet`)}
), noted AS (${dwalletEventInsert("dwallet.left", sql`marked`)}), audited AS (${auditInsert("dwallet.left", sql`marked`, SYSTEM_ORIGIN)})
SELECT id FROM marked`,
  );
  return markedCount > 0;
}

/** The known facts about a capability that has left the Treasury. */
export interface Leaving {
  /** The transaction that took it out. */
  readonly txDigest?: string;
  /** A version of the Treasury that does not hold it. */
  readonly version?: bigint;
}

/**
 * Records a version of the Treasury that does not hold the capability of a Left dWallet, unless one is recorded
 * already.
 */
export async function noteLeftVersion(
  { prisma }: Database,
  dwalletRowId: string,
  version: bigint,
): Promise<void> {
  await prisma.dWallet.updateMany({
    where: { id: dwalletRowId, state: "Left", leftVersion: null },
    data: { leftVersion: version },
  });
}

/**
 * Records that the Treasury holds the dWallet's capability again: Left -> Active. Changes nothing unless `version`,
 * that of the capability's entry, is newer than the recorded version of the Treasury that did not hold it. Returns
 * whether the state changed.
 */
export async function markDWalletHeld(
  db: Queryable,
  dwalletRowId: string,
  version: bigint,
): Promise<boolean> {
  const markedCount = await execute(
    db,
    sql`
WITH marked AS (
  UPDATE dwallet SET state = 'Active', leave_tx_digest = NULL, left_version = NULL, updated_at = now()
  WHERE id = ${dwalletRowId} AND state = 'Left' AND (left_version IS NULL OR left_version < ${version})
  RETURNING id, ${eventColumns(sql`dwallet`)}
), noted AS (${dwalletEventInsert("dwallet.active", sql`marked`)}), audited AS (${auditInsert("dwallet.return", sql`marked`, SYSTEM_ORIGIN)})
SELECT id FROM marked`,
  );
  return markedCount > 0;
}

/** Returns the error for a dWallet in such a state. */
export function hasLeft(dwalletId: string, state: string): ServiceError {
  const message =
    state === "Left"
      ? "the dWallet has left the service: only the holder of its capability can sign with it"
      : "the dWallet is leaving the service, which makes no new signatures with it";
  return new ServiceError("DWALLET_LEFT", message, { metadata: { dwalletId, state } });
}

/** Returns whether a dWallet in this state makes no new signatures because it leaves or has left. */
export function isLeft(state: string): boolean {
  return state === "Leaving" || state === "Left";
}
