import type { ClientConfig } from "../config/client.ts";
import { isEmbeddedDatabaseOpen } from "../store/pglite-lock.ts";
import { type DevelopmentAccess, readDevelopmentFile } from "./development-file.ts";

/**
 * The service on embedded defaults that runs now on the configured data folder. Undefined if none runs there, and if the
 * configuration has another database: what is left in a folder then decides nothing.
 */
export async function findQuickStart({
  dataDirectory,
  isDatabaseEmbedded,
}: Pick<ClientConfig, "dataDirectory" | "isDatabaseEmbedded">): Promise<DevelopmentAccess | undefined> {
  if (!isDatabaseEmbedded || !(await isEmbeddedDatabaseOpen(dataDirectory))) return undefined;
  return await readDevelopmentFile(dataDirectory);
}
