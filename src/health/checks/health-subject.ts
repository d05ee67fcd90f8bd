import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { ChainNetwork, NetworkAccess } from "../../chain/network.ts";
import type { Config } from "../../config/config.ts";
import type { Queryable } from "../../store/database.ts";
import { type Finding, NotChecked, needed } from "./health-check.ts";

/** The service that the checks look at: the running one, or a configured one that the doctor opens part by part. */
export interface HealthSubject {
  readonly config: Config;
  /** True in the running service, which has already migrated its database. */
  readonly isRunning: boolean;
  /** Opens the database at the first call. */
  database(): Promise<HealthDatabase>;
  readonly chain: HealthChain;
  /** Asks the Redis at `REDIS_URL`. */
  askRedis(): Promise<Finding>;
}

/** The database, as far as the checks can reach it. */
export type HealthDatabase =
  | { readonly kind: "postgres" | "pglite"; readonly db: Queryable }
  /** The embedded database does not exist yet, or another process uses it. */
  | { readonly kind: "out of reach"; readonly why: string };

/** The chain. Each part is opened at its first call. */
export interface HealthChain {
  /** Throws {@link NotChecked} for an embedded network that runs only inside the service. */
  access(): Promise<NetworkAccess>;
  /** A client that sends nothing by itself. */
  client(): Promise<SuiGrpcClient>;
  /** The network with Ika's objects and the Treasury. */
  network(): Promise<ChainNetwork>;
}

/** Returns the database's connection. Throws {@link NotChecked} when it is out of reach. */
export async function reachable({ database }: Pick<HealthSubject, "database">): Promise<Queryable> {
  const opened = await needed(database(), "the database does not answer");
  if (opened.kind === "out of reach") throw new NotChecked(`the database is ${opened.why}`);
  return opened.db;
}
