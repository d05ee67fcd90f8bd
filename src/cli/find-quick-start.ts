import type { ClientConfig } from "../service/config/client.ts";
import { loadClientConfig } from "../service/config/config.ts";
import { isEmbeddedDatabaseOpen } from "../service/platform/store/pid-lock.ts";
import type { CommandContext } from "./command-line/command.ts";
import { type DevelopmentAccess, readDevelopmentFile } from "./connections/development-file.ts";

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

/** Returns the URL of the local network: `LOCALNET_URL`, that of the service that runs on `DATA_DIR`, or the default. */
export async function findLocalnet({ environment }: Pick<CommandContext, "environment">): Promise<string> {
  const config = loadClientConfig(environment);
  return config.localnetUrl ?? (await findQuickStart(config))?.fullnodeUrl ?? DEFAULT_LOCALNET_URL;
}

/** The default address of `tss localnet`. */
export const DEFAULT_LOCALNET_URL = "http://127.0.0.1:9000";
