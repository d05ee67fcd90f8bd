import { setTimeout as sleep } from "node:timers/promises";
import type { Localnet } from "../../src/localnet/localnet.ts";
import type { Database } from "../../src/store/database.ts";
import { createLife } from "./mortal.ts";
import type { Random } from "./random.ts";
import { type Replica, startReplica } from "./replica.ts";

/** Replicas that are killed and come back. */
export interface Cluster {
  /** One that runs now, as a load balancer would choose. */
  any(): Promise<Replica>;
  /** No replica is killed from now on. */
  endKilling(): void;
  readonly deaths: number;
  stop(): Promise<void>;
}

/** What a cluster is made of. */
export interface ClusterOptions {
  readonly database: Database;
  readonly localnet: Localnet;
  readonly random: Random;
  readonly replicaCount: number;
  readonly log: (level: string, fields: object, message: string) => void;
}

/** So many calls a replica lives at most while it is to be killed; starting one takes some forty. */
const LIFE_STEPS = 1_500;
const BETWEEN_LIVES_MS = 10;

/** Keeps `replicaCount` replicas up: each dies at a step of its own, and is followed by another. */
export function startCluster({ database, localnet, random, replicaCount, log }: ClusterOptions): Cluster {
  const running = new Set<Replica>();
  let isKilling = true;
  let isStopping = false;
  let deaths = 0;
  const slots = Array.from({ length: replicaCount }, (_, index) => keepUp(index));

  return {
    async any() {
      while (running.size === 0) await sleep(BETWEEN_LIVES_MS);
      return random.pick([...running]);
    },
    endKilling() {
      isKilling = false;
    },
    get deaths() {
      return deaths;
    },
    async stop() {
      isStopping = true;
      await Promise.all([...running].map((replica) => replica.stop()));
      await Promise.all(slots);
    },
  };

  async function keepUp(index: number): Promise<void> {
    while (!isStopping) {
      let die: () => void = () => {};
      const died = new Promise<void>((resolve) => {
        die = resolve;
      });
      const lastStep = isKilling ? random.integer(1, LIFE_STEPS) : Number.POSITIVE_INFINITY;
      const life = createLife(lastStep, () => {
        deaths++;
        die();
      });
      const name = `${index}/${deaths}`;
      const replica = await startReplica({
        database,
        localnet,
        life,
        log: (level, fields, message) => log(level, { replica: name, ...fields }, message),
      }).catch(() => undefined);
      if (replica !== undefined) {
        running.add(replica);
        await Promise.race([died, stopped()]);
        running.delete(replica);
        await replica.stop();
      }
      await sleep(BETWEEN_LIVES_MS);
    }
  }

  async function stopped(): Promise<void> {
    while (!isStopping) await sleep(BETWEEN_LIVES_MS);
  }
}
