import { Redis } from "ioredis";
import { environment, serverMissing } from "../environment.ts";

/** Returns the URL of a Redis server, or undefined if none answers. See `testDatabase` for what a suite does then. */
export async function testRedis(): Promise<string | undefined> {
  const url = environment.redisUrl;
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  // The rejected connect reports the same error. Without a listener, the error event would end the process.
  client.on("error", () => {});
  try {
    await client.connect();
    return url;
  } catch {
    serverMissing("Redis", url, "replicas");
    return undefined;
  } finally {
    client.disconnect();
  }
}
