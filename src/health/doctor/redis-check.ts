import { Redis } from "ioredis";
import type { Config } from "../../config/config.ts";
import type { DoctorCheck, Finding } from "./doctor-check.ts";

const TIMEOUT_MS = 5_000;
const OLDEST_MAJOR = 6;

/** The check of Redis, which replicas share wake-ups and rate limits through. */
export function redisCheck({ redisUrl }: Pick<Config, "redisUrl">): DoctorCheck {
  return {
    name: "redis",
    advice:
      "check that Redis runs and that REDIS_URL names it; until then each replica has its own limits and wake-ups",
    async look() {
      if (redisUrl === undefined)
        return { status: "info", found: "none; each replica has its own limits and wake-ups" };
      const client = new Redis(redisUrl.reveal(), {
        lazyConnect: true,
        connectTimeout: TIMEOUT_MS,
        commandTimeout: TIMEOUT_MS,
        retryStrategy: () => null,
      });
      let broken: Error | undefined;
      client.on("error", (error: Error) => {
        broken = error;
      });
      try {
        await client.connect();
        return judgeRedis(await client.info());
      } catch (error) {
        // What the connection failed with says more than that it is closed.
        throw broken ?? error;
      } finally {
        client.disconnect();
      }
    },
  };
}

/** Judges what Redis says of itself (`INFO`). */
export function judgeRedis(info: string): Finding {
  const read = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? "";
  const version = read("redis_version");
  const policy = read("maxmemory_policy");
  const isBounded = Number(read("maxmemory")) > 0;
  const found = `Redis ${version}, ${isBounded ? `maxmemory-policy ${policy}` : "no memory limit"}`;
  if (Number(version.split(".")[0]) < OLDEST_MAJOR)
    return { status: "warn", found, advice: `move to Redis ${OLDEST_MAJOR} or newer` };
  if (isBounded && policy === "noeviction") {
    return {
      status: "warn",
      found,
      advice:
        "Redis refuses writes when it is full; set maxmemory-policy to volatile-ttl, because all keys expire",
    };
  }
  return { status: "ok", found };
}
