import { Redis } from "ioredis";
import type { Secret } from "../../telemetry/secret.ts";
import type { Finding } from "../checks/health-check.ts";

/** Connects to Redis and checks its version and its eviction policy. */
export async function askRedis(url: Secret): Promise<Finding> {
  const client = new Redis(url.reveal(), {
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
    return checkRedis(await client.info());
  } catch (error) {
    // The connection's own error is more specific than "closed".
    throw broken ?? error;
  } finally {
    client.disconnect();
  }
}

const TIMEOUT_MS = 5_000;
const OLDEST_MAJOR = 6;

/** Returns the finding for a reply to `INFO`. */
export function checkRedis(info: string): Finding {
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
