import { type Clock, pause } from "../../src/service/platform/lifecycle/clock.ts";
import { createLife, type Life } from "./mortal.ts";
import type { Random } from "./random.ts";
import { type Replica, type ReplicaOptions, startReplica } from "./replica.ts";

/** Replicas that are killed and restarted. */
export interface Cluster {
  /** Returns a running replica, as a load balancer does. */
  any(): Promise<Replica>;
  /** Stops the killing of replicas. */
  endKilling(): void;
  readonly deaths: number;
  /** The number of steps in the first replica's first life. */
  readonly firstLifeSteps: number;
  stop(): Promise<void>;
}

/** Options of {@link startCluster}. */
export interface ClusterOptions {
  /** The replicas' common environment. */
  readonly replica: Omit<ReplicaOptions, "database" | "life" | "clock"> & { readonly clock: Clock };
  /** One for each replica. */
  readonly databases: readonly ReplicaOptions["database"][];
  /** The number of steps of a life, or infinity. The lives of a replica are counted from 0. */
  readonly lifeSteps: (replica: number, life: number) => number;
  readonly random: Random;
}

const BETWEEN_LIVES_MS = 10;

/** Keeps a replica running on each database. Each dies at its own step, and another one follows. */
export function startCluster({ replica: shared, databases, lifeSteps, random }: ClusterOptions): Cluster {
  const { clock } = shared;
  const running = new Set<Replica>();
  let isKilling = true;
  let isStopping = false;
  let stopAll: () => void = () => {};
  const stopped = new Promise<void>((resolve) => {
    stopAll = resolve;
  });
  let firstLife: Life | undefined;
  let deaths = 0;
  const slots = databases.map((database, index) => keepUp(database, index));

  return {
    async any() {
      while (running.size === 0) await pause(clock, BETWEEN_LIVES_MS);
      return random.pick([...running]);
    },
    endKilling() {
      isKilling = false;
    },
    get deaths() {
      return deaths;
    },
    get firstLifeSteps() {
      return firstLife?.steps ?? 0;
    },
    async stop() {
      isStopping = true;
      stopAll();
      await Promise.all([...running].map((replica) => replica.stop()));
      await Promise.all(slots);
    },
  };

  async function keepUp(database: ReplicaOptions["database"], index: number): Promise<void> {
    for (let lifeCount = 0; !isStopping; lifeCount++) {
      let die: () => void = () => {};
      const died = new Promise<void>((resolve) => {
        die = resolve;
      });
      const lastStep = isKilling ? lifeSteps(index, lifeCount) : Number.POSITIVE_INFINITY;
      const life = createLife(lastStep, () => {
        deaths++;
        die();
      });
      if (index === 0) firstLife ??= life;
      const name = `${index}/${deaths}`;
      const replica = await startReplica({
        ...shared,
        database,
        life,
        log: (level, fields, message) => shared.log(level, { replica: name, ...fields }, message),
      }).catch(() => undefined);
      if (replica !== undefined) {
        running.add(replica);
        await Promise.race([died, stopped]);
        running.delete(replica);
        await replica.stop();
      }
      await pause(clock, BETWEEN_LIVES_MS);
    }
  }
}
