import type { ClientConfig } from "../config/client.ts";
import { isEmbeddedDatabaseOpen } from "../store/pglite-lock.ts";
import { type DevelopmentAccess, readDevelopmentFile } from "./development-file.ts";

/**
 * Returns the running service on the configured data folder. Undefined if none runs there, or if the configuration
 * names another database.
 */
export async function findQuickStart({
  dataDirectory,
  isDatabaseEmbedded,
}: Pick<ClientConfig, "dataDirectory" | "isDatabaseEmbedded">): Promise<DevelopmentAccess | undefined> {
  if (!isDatabaseEmbedded || !(await isEmbeddedDatabaseOpen(dataDirectory))) return undefined;
  return await readDevelopmentFile(dataDirectory);
}
