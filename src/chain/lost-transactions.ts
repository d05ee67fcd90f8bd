import type { Sql } from "../store/database.ts";
import type { PastTransaction, TransactionHistory } from "./history.ts";
import type { ChainNetwork } from "./network.ts";
import { isResolvedTransaction } from "./outbox.ts";
import type { NetworkReader } from "./reader.ts";

/** What looking for them needs. */
export interface FindLostOptions {
  readonly sql: Sql;
  readonly network: Pick<ChainNetwork, "senderAddress" | "gasOwnerAddress" | "treasury">;
  readonly reader: Pick<NetworkReader, "gasCoins" | "ownedObjects">;
  readonly history: TransactionHistory;
}

const OBJECTS_PER_CALL = 50;
/** More than a day of eight lanes at full speed. */
const LOST_AT_MOST = 200_000;

/**
 * The transactions of the hot wallet, or paid by its gas station, whose outcome the database does not know, the oldest
 * first. They are followed back from what the lanes own now, each to those whose objects it used, until one is known or is
 * somebody else's: each of ours uses a coin that the one before it on its lane left.
 */
export async function findLostTransactions(options: FindLostOptions): Promise<PastTransaction[]> {
  const { sql, network, history } = options;
  const ours = new Set([network.senderAddress, network.gasOwnerAddress]);
  const seen = new Set<string>();
  const lost: PastTransaction[] = [];
  const toFollow = await newestDigests(options);
  for (let digest = toFollow.pop(); digest !== undefined; digest = toFollow.pop()) {
    if (seen.has(digest)) continue;
    seen.add(digest);
    if (await isResolvedTransaction(sql, digest)) continue;
    const transaction = await history.read(digest);
    if (transaction === undefined || !isOf(transaction, ours)) continue;
    lost.push(transaction);
    if (lost.length > LOST_AT_MOST) throw new Error(`more than ${LOST_AT_MOST} transactions are not known`);
    toFollow.push(...transaction.outcome.changes.dependencies);
  }
  return lost.sort((a, b) => (versionOf(a) < versionOf(b) ? -1 : 1));
}

function isOf({ sender, gasOwner }: PastTransaction, ours: ReadonlySet<string>): boolean {
  return ours.has(sender) || (gasOwner !== undefined && ours.has(gasOwner));
}

/** The transactions that wrote what the lanes own, in the newest versions. */
async function newestDigests({ network, reader }: FindLostOptions): Promise<string[]> {
  const coins = await reader.gasCoins(network.gasOwnerAddress);
  const objectIds = [...network.treasury.operatorCapIds, ...coins.map(({ objectId }) => objectId)];
  const digests: string[] = [];
  for (let index = 0; index < objectIds.length; index += OBJECTS_PER_CALL) {
    const objects = await reader.ownedObjects(objectIds.slice(index, index + OBJECTS_PER_CALL));
    for (const { lastChange } of objects.values()) if (lastChange !== undefined) digests.push(lastChange);
  }
  return digests;
}

/** Every transaction gives what it writes one version, above those of all that it used. */
function versionOf({ outcome }: PastTransaction): bigint {
  const [written] = outcome.changes.written.values();
  return BigInt(written?.version ?? 0);
}
