import { loadClientConfig } from "../../service/config/config.ts";
import type { SignerConfig } from "../../service/config/signer.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import type { SignerOptions } from "../../signer/start-signer.ts";
import { readPrivateFile } from "../../signer/store/private-file.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import { findQuickStart } from "../find-quick-start.ts";

/** Returns the service of the settings, or the quick start that runs here. Calls neither. */
export async function findService(
  { service, fullnodeUrls, treasuryId }: SignerConfig,
  { environment }: CommandContext,
): Promise<SignerOptions["service"]> {
  const chain = { fullnodeUrl: fullnodeUrls?.map((url) => url.reveal()), treasuryId };
  if (service !== undefined) {
    const { url, apiKeyFile, network } = service;
    const apiKey = new Secret(readPrivateFile(apiKeyFile, "the API key"));
    return { baseUrl: url, apiKey, network, ...chain };
  }
  const quickStart = await findQuickStart(loadClientConfig(environment));
  if (quickStart === undefined)
    throw new UsageError(
      "SIGNER_SERVICE_URL is not set, and no quick start runs here; set it with SIGNER_API_KEY_FILE and SIGNER_NETWORK",
    );
  const { baseUrl, apiKey, network } = quickStart;
  return { baseUrl, apiKey: new Secret(apiKey), network, ...chain };
}
