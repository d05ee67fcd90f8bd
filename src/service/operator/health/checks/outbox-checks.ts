import type { ChainNetwork } from "../../../chain/fullnodes/network.ts";
import { createNetworkReader } from "../../../chain/reader.ts";
import {
  type ForeignUse,
  knownLanes,
  readForeignUses,
  readLaneObjects,
} from "../../../chain/submit/lane-table.ts";
import { hasStaleOperation } from "../../../chain/submit/outbox.ts";
import { compareObjects } from "../../../chain/submit/prepare-lanes.ts";
import type { Queryable } from "../../../platform/store/database.ts";
import { isSchemaMissing } from "../../../platform/store/sql-errors.ts";
import {
  type Finding,
  type HealthCheck,
  type HealthSubject,
  type NetworkSubject,
  NotChecked,
  reachable,
} from "./health-check.ts";

/** Returns the checks that workers take queued operations, and that no other process sends from the hot wallet. */
export function outboxChecks(
  subject: NetworkSubject,
  { isRunning }: Pick<HealthSubject, "isRunning">,
): HealthCheck[] {
  return [
    {
      name: "outbox",
      advice: "check that the user of DATABASE_URL may read the table chain_operation",
      readiness: {
        isVital: false,
        needs: "database",
        reason:
          "an operation has waited for over a minute: check that a process with PROCESS_TYPE worker or all runs, and check its log",
      },
      look: () => onNetwork(subject, lookAtOutbox),
    },
    {
      name: "lanes",
      advice: "check that the user of DATABASE_URL may read the table lane",
      readiness: {
        isVital: false,
        needs: "database",
        reason:
          "the chain knows transactions of the hot wallet that this database does not, so this service reserves and submits nothing: restore the newest database, or stop the other sender, then run `tss reconcile`, or start one worker with --after-restore",
      },
      look: () =>
        onNetwork(subject, (db, network) =>
          lookAtLanes(db, network, isRunning ? undefined : () => subject.chain.network()),
        ),
    },
  ];
}

/** The time within which a worker should take an operation. */
const STALE_MS = 60_000;

async function onNetwork(
  subject: NetworkSubject,
  look: (db: Queryable, network: string) => Promise<Finding>,
): Promise<Finding> {
  const db = await reachable(subject);
  try {
    return await look(db, subject.config.name);
  } catch (error) {
    if (isSchemaMissing(error)) throw new NotChecked("the database is not migrated");
    throw error;
  }
}

async function lookAtOutbox(db: Queryable, network: string): Promise<Finding> {
  if (!(await hasStaleOperation(db, network, STALE_MS)))
    return { status: "ok", found: "no operation has waited for over a minute" };
  return {
    status: "fail",
    found: "an operation has waited for over a minute",
    advice: "check that a process with PROCESS_TYPE worker or all runs, and check its log",
  };
}

/**
 * A running service compares its lanes with the chain when it starts, and whenever it sends. The doctor compares them
 * now, because the database may just have been restored.
 */
async function lookAtLanes(
  db: Queryable,
  network: string,
  connect: (() => Promise<ChainNetwork>) | undefined,
): Promise<Finding> {
  const marked = await readForeignUses(db, network);
  const found = "no other process has sent from the hot wallet";
  let foreign = marked;
  if (marked.length === 0 && connect !== undefined) {
    const connected = await connect().catch(() => undefined);
    if (connected === undefined)
      return { status: "ok", found: `${found}, as far as the database knows: the network does not answer` };
    foreign = await unknownUses(db, connected);
  }
  if (foreign.length === 0) return { status: "ok", found };
  const uses = foreign.map(({ laneId, digest }) => `${laneId} by transaction ${digest}`).join(", ");
  return {
    status: "fail",
    found: `this database does not know who has used ${uses}: it is behind the chain, or another process sends from the hot wallet`,
    advice:
      "restore the newest database, or stop the other sender; then run `tss reconcile`, or start one worker with `tss serve --after-restore`",
  };
}

/** Returns the lanes that the chain has seen used by a transaction that the database does not know. */
async function unknownUses(db: Queryable, network: ChainNetwork): Promise<ForeignUse[]> {
  const reader = createNetworkReader(network);
  const found: ForeignUse[] = [];
  for (const laneId of await knownLanes(db, network.treasury.operatorCapIds)) {
    const { foreignDigest: digest } = await compareObjects(db, reader, await readLaneObjects(db, laneId));
    if (digest !== undefined) found.push({ laneId, digest });
  }
  return found;
}
