import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { ChainNetwork, NetworkAccess } from "../../chain/network.ts";
import type { Config } from "../../config/config.ts";
import type { NetworkConfig } from "../../config/networks.ts";
import type { Queryable } from "../../store/database.ts";
import { type Finding, NotChecked, needed } from "./health-check.ts";

/** The service under check: the running one, or a configured one that the doctor opens part by part. */
export interface HealthSubject {
  readonly config: Config;
  /** True in the running service, which has already migrated its database. */
  readonly isRunning: boolean;
  /** Opens the database on the first call. */
  database(): Promise<HealthDatabase>;
  readonly networks: readonly HealthNetwork[];
  /** Asks the Redis at `REDIS_URL`. */
  askRedis(): Promise<Finding>;
}

/** A served network. */
export interface HealthNetwork {
  readonly config: NetworkConfig;
  readonly chain: HealthChain;
  /** Returns true if this replica has opened the network. Absent if the subject is not a running replica. */
  isOpen?(): boolean;
}

/** A network with the database of the service. */
export type NetworkSubject = HealthNetwork & Pick<HealthSubject, "database">;

/** The database, as far as the checks can reach it. */
export type HealthDatabase =
  | {
      readonly kind: "postgres" | "pglite";
      readonly db: Queryable;
      /** True if a pooler is between the process and PostgreSQL. Default false. */
      readonly isPooled?: boolean;
    }
  /** The embedded database does not exist yet, or another process uses it. */
  | { readonly kind: "out-of-reach"; readonly why: string };

/** The chain. Opens each part on its first call. */
export interface HealthChain {
  /** Throws {@link NotChecked} for an embedded network that runs only inside the service. */
  access(): Promise<NetworkAccess>;
  /** A client, which sends nothing until it is called. */
  client(): Promise<SuiGrpcClient>;
  /** The network with Ika's objects and the Treasury. */
  network(): Promise<ChainNetwork>;
}

/** Returns the database's connection. Throws {@link NotChecked} if it is out of reach. */
export async function reachable({ database }: Pick<HealthSubject, "database">): Promise<Queryable> {
  const opened = await needed(database(), "the database does not answer");
  if (opened.kind === "out-of-reach") throw new NotChecked(`the database is ${opened.why}`);
  return opened.db;
}
