import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import { serviceFolder } from "../service/service.ts";
import { snapshotFile } from "./database.ts";

/**
 * Makes a folder for `startService` whose embedded database is migrated and has no rows of the service. A first start
 * would spend three seconds of processor time on that. For tests that are not about a first start.
 */
export async function migratedFolder(): Promise<ReturnType<typeof serviceFolder>> {
  const made = serviceFolder();
  const database = path.join(made.folder, "pg");
  mkdirSync(database);
  execFileSync("tar", ["-xf", await snapshotFile(), "-C", database], { stdio: "ignore" });
  return made;
}
