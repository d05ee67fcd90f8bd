import { readFileSync } from "node:fs";
import { pino } from "pino";
import { loadSignerConfig } from "../../service/config/config.ts";
import type { SignerConfig } from "../../service/config/signer.ts";
import { HOUR_MS } from "../../service/platform/lifecycle/clock.ts";
import { Lifecycle } from "../../service/platform/lifecycle/lifecycle.ts";
import { runUntilSignal } from "../../service/platform/lifecycle/run-until-signal.ts";
import { createLogger, type Log } from "../../service/platform/telemetry/logger.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import { TOKEN, TOKEN_FORM } from "../../signer/access/access-list.ts";
import { anyoneWith, type Callers, openCallers } from "../../signer/access/callers.ts";
import { type SignerOptions, startSigner } from "../../signer/start-signer.ts";
import { openStore } from "../../signer/store/open-store.ts";
import { readPrivateFile } from "../../signer/store/private-file.ts";
import { masterSeeds } from "../../signer/store/seed-source.ts";
import type { CommandContext } from "../command-line/command.ts";
import { findService } from "./find-service.ts";
import { openStoreParts, readMasterSeed } from "./store-parts.ts";

/**
 * Runs a signer until a signal. Standard output says `ready at <address>` for each address, and standard error has the
 * log. Returns the exit code.
 */
export async function serveSigner(context: CommandContext): Promise<number> {
  const config = loadSignerConfig(context.environment);
  const service = await findService(config, context);
  const port = readPort(config);
  const token = readToken(config);
  const parts = openStoreParts(config, context);
  const hasPassphrase = config.store.kind !== "memory" && config.seal.kind === "passphrase";
  const passphrase = hasPassphrase ? new Secret(await parts.passphrase()) : undefined;
  const masterSeed = readMasterSeed(config);
  const named = [
    passphrase,
    masterSeed,
    service.apiKey,
    token,
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
  lifecycle.onStop("parts of the store", () => parts.close());
  try {
    const { accessFile, socketPath, ethereum, exitDrillHours, isExitDrillReported } = config;
    const callers =
      accessFile === undefined ? anyoneWith(token) : watchCallers(accessFile, port, log, lifecycle);
    const store = await openStore(config.store, config.seal, parts);
    const addresses = await startSigner({
      seeds: masterSeed && masterSeeds(masterSeed),
      store,
      service,
      callers,
      token,
      socketPath,
      port,
      ethereum,
      log,
      lifecycle,
      exitDrillMs: exitDrillHours * HOUR_MS,
      isExitDrillReported,
      isSocketGuarded: accessFile !== undefined,
    });
    const names = callers.names().filter((name) => name !== "");
    const seeds = masterSeed === undefined ? "random" : "derived";
    log.info({ store: config.store.kind, seal: config.seal.kind, seeds, callers: names }, "the signer runs");
    for (const address of addresses) context.print(`ready at ${address}`);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
  return await ended;
}

const STANDARD_ERROR = 2;

function readPort({ port }: SignerConfig): SignerOptions["port"] {
  if (port === undefined) return undefined;
  const { certificateFile, keyFile, clientCaFile } = port.tls ?? {};
  const tls =
    certificateFile === undefined || keyFile === undefined
      ? undefined
      : {
          certificatePem: readFileSync(certificateFile, "utf8"),
          keyPem: readFileSync(keyFile, "utf8"),
          ...(clientCaFile !== undefined && { clientCaPem: readFileSync(clientCaFile, "utf8") }),
        };
  return { host: port.host, port: port.port, tls };
}

function readToken({ port }: SignerConfig): Secret | undefined {
  if (port?.tokenFile === undefined) return undefined;
  const token = readPrivateFile(port.tokenFile, "the token");
  if (!TOKEN.test(token)) throw new Error(`the token in ${port.tokenFile} ${TOKEN_FORM}`);
  return new Secret(token);
}

/** Opens the file of callers, and reads it again after SIGHUP and after each change. */
function watchCallers(file: string, port: SignerOptions["port"], log: Log, lifecycle: Lifecycle): Callers {
  const callers = openCallers(file, log, { hasCertificates: port?.tls?.clientCaPem !== undefined });
  const reload = () => callers.reload();
  const timer = setInterval(reload, RELOAD_INTERVAL_MS);
  timer.unref();
  process.on("SIGHUP", reload);
  lifecycle.onStop("callers", async () => {
    clearInterval(timer);
    process.off("SIGHUP", reload);
  });
  return callers;
}

/** A mounted file changes without an event that every platform tells, so it is read at this interval. */
const RELOAD_INTERVAL_MS = 5_000;
