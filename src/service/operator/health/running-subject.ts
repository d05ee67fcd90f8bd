import type { Config } from "../../config/config.ts";
import type { Coordination } from "../../platform/coordination/coordination.ts";
import type { Database } from "../../platform/store/database.ts";
import type { HealthNetwork, HealthSubject } from "./checks/health-check.ts";

/** Returns the running service as the subject of the checks. */
export function runningSubject({
  config,
  database,
  networks,
  coordination,
}: {
  readonly config: Config;
  readonly database: Database;
  readonly networks: readonly HealthNetwork[];
  readonly coordination: Pick<Coordination, "check">;
}): HealthSubject {
  const kind = config.databaseUrl === undefined ? "pglite" : "postgres";
  return {
    config,
    isRunning: true,
    database: async () => ({ kind, db: database, isPooled: database.isPooled }),
    networks,
    async askRedis() {
      await coordination.check();
      return { status: "ok", found: "answers" };
    },
  };
}

/** The parts of a running service under check. */
