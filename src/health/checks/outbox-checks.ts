import { readForeignUses } from "../../chain/submit/lane-table.ts";
import { hasStaleOperation } from "../../chain/submit/outbox.ts";
import type { Config } from "../../config/config.ts";
import type { Queryable } from "../../store/database.ts";
import { isSchemaMissing } from "../../store/sql-errors.ts";
import { type Finding, type HealthCheck, NotChecked } from "./health-check.ts";
import { type NetworkSubject, reachable } from "./health-subject.ts";

/** Returns the checks that workers take queued operations, and that no other process sends from the hot wallet. */
export function outboxChecks(subject: NetworkSubject, processType: Config["processType"]): HealthCheck[] {
  return [
    {
      name: "outbox",
      advice: "check that the user of DATABASE_URL may read the table chain_operation",
      readiness: {
        isVital: false,
        reason:
          "an operation has waited for over a minute: check that a process with PROCESS_TYPE worker or all runs, and check its log",
      },
      look: () => onNetwork(subject, lookAtOutbox),
    },
    {
      name: "lanes",
      advice: "check that the user of DATABASE_URL may read the table lane",
      readiness:
        processType === "api"
          ? undefined
          : {
              isVital: false,
              reason:
                "another process sends from the hot wallet, so this service submits nothing: stop it, then start once with --after-restore",
            },
      look: () => onNetwork(subject, lookAtLanes),
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

async function lookAtLanes(db: Queryable, network: string): Promise<Finding> {
  const foreign = await readForeignUses(db, network);
  if (foreign.length === 0) return { status: "ok", found: "no other process has sent from the hot wallet" };
  const uses = foreign.map(({ laneId, digest }) => `${laneId} by transaction ${digest}`).join(", ");
  return {
    status: "fail",
    found: `another process has used ${uses}`,
    advice:
      "stop the other sender, or restore the newest database, then start with `tss serve --after-restore`",
  };
}
