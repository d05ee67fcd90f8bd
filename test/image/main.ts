/**
 * `npm run test:image -- [--base IMAGE --build-base IMAGE | --image IMAGE]`: builds the image unless one is named, runs
 * it as the documents say on a real PostgreSQL and Redis, and signs with it. Needs buildah and podman, which Debian
 * has; without them it says so and ends.
 */
import { parseArgs } from "node:util";
import { testDatabase } from "../support/database/postgres.ts";
import { testRedis } from "../support/database/redis.ts";
import { programMissing } from "../support/environment.ts";
import { buildImage } from "./build-image.ts";
import { checkImage } from "./check-image.ts";
import { checkService } from "./check-service.ts";
import { openContainerStore } from "./container-store.ts";
import { openContainers } from "./containers.ts";
import { runCommand } from "./run-command.ts";

const name = { type: "string" } as const;
const { values } = parseArgs({ options: { base: name, "build-base": name, image: name } });
const store = openContainerStore();
const print = (line: string) => console.log(line);

for (const program of ["buildah", "podman"]) {
  try {
    await runCommand(program, ["--version"], { environment: store.environment });
  } catch {
    programMissing(program, "the image and what runs in it");
    process.exit(0);
  }
}
const [postgres, redisUrl] = [await testDatabase(), await testRedis()];
if (postgres === undefined || redisUrl === undefined) process.exit(0);

const startedAt = performance.now();
const image =
  values.image ?? (await buildImage(store, { base: values.base, buildBase: values["build-base"] }));
console.log(`built after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
const containers = openContainers(store, image);
try {
  await checkImage(store, containers, print, image);
  await checkService(store, containers, print, { databaseUrl: postgres.url, redisUrl });
  console.log(`passed after ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
} finally {
  await containers.close();
  await postgres.drop();
}
