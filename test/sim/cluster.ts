import { type Clock, pause } from "../../src/lifecycle/clock.ts";
import { createLife, type Life } from "./mortal.ts";
import type { Random } from "./random.ts";
import { type Replica, type ReplicaOptions, startReplica } from "./replica.ts";

/** Replicas that are killed and come back. */
export interface Cluster {
  /** One that runs now, as a load balancer would choose. */
  any(): Promise<Replica>;
  /** No replica is killed from now on. */
  endKilling(): void;
  readonly deaths: number;
  /** How many steps the first replica has had in its first life. */
  readonly firstLifeSteps: number;
  stop(): Promise<void>;
}

/** What a cluster is made of. */
export interface ClusterOptions {
  /** What all replicas share. */
  readonly replica: Omit<ReplicaOptions, "database" | "life" | "clock"> & { readonly clock: Clock };
  /** Of each replica. */
  readonly databases: readonly ReplicaOptions["database"][];
  /** How many steps a life has; infinity for one that is not killed. Lives of a replica are counted from 0. */
  readonly lifeSteps: (replica: number, life: number) => number;
  readonly random: Random;
}

const BETWEEN_LIVES_MS = 10;

/** Keeps a replica up on each database: each dies at a step of its own, and is followed by another. */
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
