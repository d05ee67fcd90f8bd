import { loadClientConfig } from "../config/config.ts";
import type { CommandContext } from "./command.ts";
import { findQuickStart } from "./find-quick-start.ts";

/** Returns the URL of the local network: `LOCALNET_URL`, that of the service that runs on `DATA_DIR`, or the default. */
export async function findLocalnet({ environment }: Pick<CommandContext, "environment">): Promise<string> {
  const config = loadClientConfig(environment);
  return config.localnetUrl ?? (await findQuickStart(config))?.fullnodeUrl ?? DEFAULT_LOCALNET_URL;
}

/** The default address of `tss localnet`. */
export const DEFAULT_LOCALNET_URL = "http://127.0.0.1:9000";
