import type { ChainNetwork, NetworkAccess } from "../chain/network.ts";
import type { Config } from "../config/config.ts";
import type { Coordination } from "../coordination/coordination.ts";
import type { Database } from "../store/database.ts";
import type { HealthSubject } from "./checks/health-subject.ts";

/** Returns the running service as the subject of the checks. */
export function runningSubject({
  config,
  database,
  access,
  network,
  coordination,
}: RunningParts): HealthSubject {
  const kind = config.databaseUrl === undefined ? "pglite" : "postgres";
  return {
    config,
    isRunning: true,
    database: async () => ({ kind, db: database }),
    chain: { access: async () => access, client: async () => network.client, network: async () => network },
    async askRedis() {
      await coordination.check();
      return { status: "ok", found: "answers" };
    },
  };
}

/** The parts of a running service that the checks look at. */
export interface RunningParts {
  readonly config: Config;
  readonly database: Database;
  readonly access: NetworkAccess;
  readonly network: ChainNetwork;
  readonly coordination: Pick<Coordination, "check">;
}
