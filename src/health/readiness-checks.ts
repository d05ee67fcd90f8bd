import sql from "sql-template-tag";
import type { ChainNetwork } from "../chain/network.ts";
import { readForeignUses } from "../chain/submit/lane-table.ts";
import { hasStaleOperation } from "../chain/submit/outbox.ts";
import type { Config } from "../config/config.ts";
import type { Coordination } from "../coordination/coordination.ts";
import type { Database } from "../store/database.ts";
import { missingMigrations } from "../store/missing-migrations.ts";
import { execute } from "../store/statements.ts";
import type { ReadinessCheck } from "./readiness.ts";

/** What is looked at. */
export interface ReadinessParts {
  readonly database: Database;
  readonly network: Pick<ChainNetwork, "name" | "client">;
  readonly coordination: Pick<Coordination, "check">;
  readonly config: Pick<Config, "processType" | "redisUrl">;
}

/** A worker should have taken an operation within this time. */
const STALE_MS = 60_000;

/**
 * What a process of this type depends on. Vital is what it lacks alone, so that callers are better served by another
 * replica; the chain, Redis and the workers are everyone's.
 */
export function readinessChecks(parts: ReadinessParts): ReadinessCheck[] {
  const { database, network, coordination, config } = parts;
  const checks: ReadinessCheck[] = [
    {
      name: "database",
      isVital: true,
      reason:
        "PostgreSQL at DATABASE_URL does not answer: check that it runs and has free connections for this replica",
      check: () => execute(database, sql`SELECT 1`),
    },
    {
      name: "migrations",
      isVital: true,
      reason: "the database lacks migrations of this version: run `tss migrate`, or restart this replica",
      check: async () => holds((await missingMigrations(database)).length === 0),
    },
    {
      name: "fullnode",
      isVital: false,
      reason: "the fullnode does not answer, and accepted requests wait: check its URL and that it runs",
      check: () => network.client.core.getReferenceGasPrice(),
    },
    {
      name: "outbox",
      isVital: false,
      reason:
        "an operation has waited for over a minute: check that a process with PROCESS_TYPE worker or all runs, and check its log",
      check: async () => holds(!(await hasStaleOperation(database, network.name, STALE_MS))),
    },
  ];
  if (config.processType !== "api") {
    checks.push({
      name: "lanes",
      isVital: false,
      reason:
        "another process sends from the hot wallet, so this service submits nothing: stop it, then start once with --after-restore",
      check: async () => holds((await readForeignUses(database, network.name)).length === 0),
    });
  }
  if (config.redisUrl !== undefined) {
    checks.push({
      name: "redis",
      isVital: false,
      reason:
        "Redis at REDIS_URL does not answer: until it does, this replica counts limits on its own and wake-ups are late",
      check: () => coordination.check(),
    });
  }
  return checks;
}

function holds(isTrue: boolean): void {
  if (!isTrue) throw new Error("does not hold");
}
