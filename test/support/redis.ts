import { Redis } from "ioredis";
import { environment, serverMissing } from "./environment.ts";

/** The URL of a Redis server, or undefined where none answers: see `testDatabase` for what a suite does then. */
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
