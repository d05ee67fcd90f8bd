import { TransactionError } from "@mysten/sui/client";
import { Transaction } from "@mysten/sui/transactions";
import sql from "sql-template-tag";
import { text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { ChainNetwork } from "../fullnodes/network.ts";
import { retryRead } from "../fullnodes/retry-read.ts";
import { type TransactionOutcome, toOutcome } from "../outcome.ts";
import type { NetworkReader, OwnedObject } from "../reader.ts";
import { isResolvedTransaction } from "../submit/outbox.ts";
import { writerOf } from "../submit/send-transaction.ts";

/**
 * Returns the transactions of the hot wallet, or paid by its gas station, whose outcome the database does not know, the
 * oldest first. The search follows objects back from the lanes' current ones until it reaches a known or foreign
 * transaction: each of the service's transactions uses a coin from the previous one on its lane. Throws if this
 * fullnode lacks a transaction that may be one of them. It does not need those of packages and shared objects.
 */
export async function findLostTransactions(options: FindLostOptions): Promise<PastTransaction[]> {
  const { db, network, history } = options;
  const ours = new Set([network.senderAddress, network.gasOwnerAddress]);
  const seen = new Set<string>();
  const lost: PastTransaction[] = [];
  const missing = new Set<string>();
  const owned = await laneObjects(options);
  const toFollow = owned.flatMap(({ lastChange }) => lastChange ?? []);
  for (let digest = toFollow.pop(); digest !== undefined; digest = toFollow.pop()) {
    if (seen.has(digest)) continue;
    seen.add(digest);
    if (await isResolvedTransaction(db, digest)) continue;
    const transaction = await history.read(digest);
    if (transaction === "unknown") missing.add(digest);
    if (typeof transaction === "string" || !isOf(transaction, ours)) continue;
    lost.push(transaction);
    if (lost.length > LOST_AT_MOST) throw new Error(`more than ${LOST_AT_MOST} transactions are unknown`);
    toFollow.push(...transaction.outcome.changes.dependencies);
  }
  await checkObjects(
    db,
    network.name,
    owned.filter(({ lastChange }) => missing.has(lastChange ?? "")),
  );
  await checkOrigins(options, lost, missing);
  return lost.sort((a, b) => (versionOf(a) < versionOf(b) ? -1 : 1));
}

interface FindLostOptions {
  readonly db: Queryable;
  readonly network: Pick<ChainNetwork, "name" | "senderAddress" | "gasOwnerAddress" | "treasury">;
  readonly reader: Pick<NetworkReader, "gasCoins" | "ownedObjects" | "effects">;
  readonly history: TransactionHistory;
}

const OBJECTS_PER_CALL = 50;
/** More than eight lanes send in a day at full speed. */
const LOST_AT_MOST = 200_000;

function isOf({ sender, gasOwner }: PastTransaction, ours: ReadonlySet<string>): boolean {
  return ours.has(sender) || (gasOwner !== undefined && ours.has(gasOwner));
}

/** Throws if one of them differs from the database, because the transaction that changed it is missing. */
async function checkObjects(db: Queryable, network: string, objects: readonly OwnedObject[]): Promise<void> {
  const ids = objects.map(({ objectId }) => objectId);
  const versions = objects.map(({ version }) => version);
  const [changed] = await readRows(
    db,
    sql`SELECT found.id FROM unnest(${ids}::text[], ${versions}::text[]) AS found (id, version) JOIN (
          SELECT id, version FROM lane WHERE network = ${network}
          UNION ALL SELECT object_id, version FROM gas_coin WHERE network = ${network}
        ) known USING (id) WHERE known.version <> found.version LIMIT 1`,
    { id: text },
  );
  if (changed !== undefined)
    throw new Error(
      `this fullnode has pruned the transactions of object ${changed.id}; use one that has them`,
    );
}

/** Throws if a transaction used an object of a lane that a missing transaction may have written. */
async function checkOrigins(
  { network, reader }: FindLostOptions,
  lost: readonly PastTransaction[],
  missing: ReadonlySet<string>,
): Promise<void> {
  const left = new Set(lost.flatMap(({ outcome }) => [...outcome.changes.written.values()].map(keyOf)));
  for (const { digest, bytes, outcome } of lost) {
    const { dependencies, inputVersions } = outcome.changes;
    if (!dependencies.some((dependency) => missing.has(dependency))) continue;
    const gasCoins = Transaction.from(bytes).getData().gasData.payment ?? [];
    const ids = [...network.treasury.operatorCapIds, ...gasCoins.map(({ objectId }) => objectId)];
    for (const objectId of ids) {
      const version = inputVersions.get(objectId);
      if (version === undefined || left.has(keyOf({ objectId, version }))) continue;
      if ((await writerOf(reader, dependencies, objectId, version)) === undefined)
        throw new Error(
          `this fullnode has pruned the history before transaction ${digest}; use one that has it`,
        );
    }
  }
}

const keyOf = ({ objectId, version }: { objectId: string; version: string }) => `${objectId} ${version}`;

/** The lanes' objects in their newest versions. */
async function laneObjects({ network, reader }: FindLostOptions): Promise<OwnedObject[]> {
  const coins = await reader.gasCoins(network.gasOwnerAddress);
  const objectIds = [...network.treasury.operatorCapIds, ...coins.map(({ objectId }) => objectId)];
  const objects: OwnedObject[] = [];
  for (let index = 0; index < objectIds.length; index += OBJECTS_PER_CALL)
    objects.push(...(await reader.ownedObjects(objectIds.slice(index, index + OBJECTS_PER_CALL))).values());
  return objects;
}

/** A transaction gives all objects that it writes one version, higher than the versions of its inputs. */
function versionOf({ outcome }: PastTransaction): bigint {
  const [written] = outcome.changes.written.values();
  return BigInt(written?.version ?? 0);
}

/** Creates a reader that uses the network's client and retries every read once. */
export function createTransactionHistory(
  network: Pick<ChainNetwork, "client" | "backOff" | "times" | "clock">,
): TransactionHistory {
  const read = retryRead(network);
  const find = (digest: string) =>
    read(async (signal) => {
      try {
        return await network.client.core.getTransaction({ digest, include: INCLUDE, signal });
      } catch (error) {
        if (error instanceof TransactionError && error.reason === "notFound") return undefined;
        throw error;
      }
    });
  return {
    async read(digest) {
      const result = await find(digest);
      if (result === undefined) return "unknown";
      const found = result.Transaction ?? result.FailedTransaction;
      // A genesis transaction has none, although the client's types say otherwise.
      const bytes: Uint8Array | undefined = found.bcs;
      if (bytes === undefined) return "nobody";
      const { sender, gasData } = Transaction.from(bytes).getData();
      if (!sender) return "nobody";
      return {
        digest,
        sender,
        gasOwner: gasData.owner ?? undefined,
        bytes,
        signatures: found.signatures,
        time: found.timestampMs === null ? undefined : new Date(found.timestampMs),
        outcome: toOutcome(result),
      };
    },
  };
}

/** A transaction on the chain. */
export interface PastTransaction {
  readonly digest: string;
  readonly sender: string;
  readonly gasOwner: string | undefined;
  readonly bytes: Uint8Array;
  readonly signatures: readonly string[];
  /** The time of its checkpoint; undefined before it is in one. */
  readonly time: Date | undefined;
  readonly outcome: TransactionOutcome;
}

/** Reads past transactions. */
interface TransactionHistory {
  /**
   * Returns `nobody` for a transaction without a sender, such as the genesis, and `unknown` for one that this fullnode
   * does not have, because most fullnodes keep only recent ones. Throws CHAIN_UNAVAILABLE.
   */
  read(digest: string): Promise<PastTransaction | "nobody" | "unknown">;
}

const INCLUDE = { effects: true, events: true, bcs: true } as const;
