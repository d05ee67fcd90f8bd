import type { SuiGrpcClient } from "@mysten/sui/grpc";
import type { ChainNetwork, NetworkAccess } from "../../../chain/fullnodes/network.ts";
import { withDeadline } from "../../../chain/fullnodes/with-deadline.ts";
import type { Config } from "../../../config/config.ts";
import type { NetworkConfig } from "../../../config/networks.ts";
import { systemClock } from "../../../platform/lifecycle/clock.ts";
import type { Queryable } from "../../../platform/store/database.ts";

/** A check of one dependency. */
export interface HealthCheck {
  readonly name: string;
  /** The operator's next step if `look` throws. */
  readonly advice: string;
  /** Set if the check also counts for a running replica's readiness. */
  readonly readiness?: ReadinessPart | undefined;
  /** Runs the check, which changes nothing. Throws {@link NotChecked} to skip; any other error is a failure. */
  look(): Promise<Finding>;
}

/** The result of a check. `info` needs no action. `skip` was not checked, for a reason that another check reports. */
export interface Finding {
  readonly status: "ok" | "info" | "warn" | "fail" | "skip";
  readonly found: string;
  readonly advice?: string;
}

/** A finding with the name of its check. */
export interface NamedFinding extends Finding {
  readonly name: string;
}

/** The effect of a failed check on a replica's readiness. */
interface ReadinessPart {
  /** True if a replica without this dependency serves nobody, while other replicas may have it. */
  readonly isVital: boolean;
  /** The fault and the remedy, readable by anyone. It quotes nothing that the dependency returned. */
  readonly reason: string;
  /** The name of another check without whose dependency this one says nothing about its own. */
  readonly needs?: string;
}

/** Thrown by a check that is impossible for a reason that another check reports. */
export class NotChecked extends Error {
  override readonly name = "NotChecked";
}

/** Runs all checks concurrently, each with this time limit, and returns their findings in order. Never throws. */
export function runChecks(checks: readonly HealthCheck[], timeoutMs: number): Promise<NamedFinding[]> {
  return Promise.all(
    checks.map(async ({ name, advice, look }) => {
      try {
        return { name, ...(await withDeadline(systemClock, timeoutMs, () => look())) };
      } catch (error) {
        if (error instanceof NotChecked)
          return { name, status: "skip", found: `not checked: ${error.message}` };
        return { name, status: "fail", found: messageOf(error), advice };
      }
    }),
  );
}

/** Returns a function that calls `make` on its first call, and returns the same promise on every call. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Returns the promise's value, or throws {@link NotChecked} with this text if it rejects. */
export async function needed<T>(thing: Promise<T>, otherwise: string): Promise<T> {
  try {
    return await thing;
  } catch {
    throw new NotChecked(otherwise);
  }
}

/** Returns the first line of an error, followed by its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const text = error.message || ("code" in error ? String(error.code) : error.name);
  return `${text}${cause}`.split("\n")[0] ?? "";
}

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
