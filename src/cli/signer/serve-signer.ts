import { readFileSync } from "node:fs";
import { pino } from "pino";
import { loadClientConfig, loadSignerConfig } from "../../service/config/config.ts";
import type { SignerConfig } from "../../service/config/signer.ts";
import { Lifecycle } from "../../service/platform/lifecycle/lifecycle.ts";
import { runUntilSignal } from "../../service/platform/lifecycle/run-until-signal.ts";
import { createLogger } from "../../service/platform/telemetry/logger.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import { readPrivateFile } from "../../signer/private-file.ts";
import { type SignerOptions, startSigner } from "../../signer/start-signer.ts";
import { openFileKeyStore } from "../../signer/store/file-key-store.ts";
import { type CommandContext, UsageError } from "../command.ts";
import { findQuickStart } from "../find-quick-start.ts";
import { readPassphrase } from "./read-passphrase.ts";

/**
 * Runs a signer until a signal. Standard output says `ready at <address>` for each address, and standard error has the
 * log. Returns the exit code.
 */
export async function serveSigner(context: CommandContext): Promise<number> {
  const config = loadSignerConfig(context.environment);
  const service = await findService(config, context);
  const port = readPort(config);
  const passphrase = new Secret(await readPassphrase(config, context));
  const named = [
    passphrase,
    service.apiKey,
    port?.token,
    config.ethereum?.url,
    ...(config.fullnodeUrls ?? []),
  ];
  const secrets = named.filter((secret) => secret !== undefined);
  // The audit lines are written at once: a killed process has logged what it has asked for.
  const stream = pino.destination({ dest: STANDARD_ERROR, sync: true });
  const log = createLogger({
    level: config.logLevel,
    stream,
    secrets,
  });
  const lifecycle = new Lifecycle({ log });
  const ended = runUntilSignal({
    signals: process,
    log,
    stop: () => lifecycle.stop(),
    exit: (code) => process.exit(code),
  });
  try {
    const store = await openFileKeyStore(config.store, passphrase.reveal());
    const { socketPath, ethereum } = config;
    const addresses = await startSigner({ store, service, socketPath, port, ethereum, log, lifecycle });
    for (const address of addresses) context.print(`ready at ${address}`);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
  return await ended;
}

const STANDARD_ERROR = 2;

async function findService(
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

function readPort({ port }: SignerConfig): SignerOptions["port"] {
  if (port === undefined) return undefined;
  const token = readPrivateFile(port.tokenFile, "the token");
  if (!/^[!-~]{32,}$/.test(token))
    throw new Error(
      `the token in ${port.tokenFile} must have 32 or more visible ASCII characters, such as the output of: openssl rand -hex 32`,
    );
  const tls = port.tls && {
    certificatePem: readFileSync(port.tls.certificateFile, "utf8"),
    keyPem: readFileSync(port.tls.keyFile, "utf8"),
  };
  return { host: port.host, port: port.port, token: new Secret(token), tls };
}
