import { readFileSync } from "node:fs";
import { pino } from "pino";
import { pinsOf } from "../client/sdk/chain/network.ts";
import { createClient, type Network } from "../client/sdk/index.ts";
import { systemClock } from "../service/platform/lifecycle/clock.ts";
import { Lifecycle } from "../service/platform/lifecycle/lifecycle.ts";
import { runUntilSignal } from "../service/platform/lifecycle/run-until-signal.ts";
import { createLogger } from "../service/platform/telemetry/logger.ts";
import { Secret } from "../service/platform/telemetry/secret.ts";
import { createWebhookSender } from "../service/webhooks/send-webhook.ts";
import { readPrivateFile } from "../signer/store/private-file.ts";
import { connectEvents, type FullnodeEvents } from "../watchtower/fullnode-events.ts";
import { startWatchtower } from "../watchtower/start-watchtower.ts";
import { createTeller } from "../watchtower/tell.ts";
import { createDWalletList } from "../watchtower/watched-dwallets.ts";
import { type CommandContext, UsageError } from "./command-line/command.ts";

/** Runs a watchtower until a signal. Standard error has the log. Returns the exit code. */
export async function runWatchtower(values: WatchtowerValues, context: CommandContext): Promise<number> {
  const { network, webhook, secretFile, service, apiKeyFile, grace } = values;
  const urls = readUrls(values.fullnodes);
  const fullnodes = urls.map((url) => connectEvents(url, network));
  if ((webhook === undefined) !== (secretFile === undefined))
    throw new UsageError("--webhook and --secret-file belong together");
  if ((service === undefined) !== (apiKeyFile === undefined))
    throw new UsageError("--service and --api-key-file belong together");
  if (values.dwallets === undefined && service === undefined)
    throw new UsageError("--dwallets or --service is needed: there is nothing to watch");
  const ika = pinsOf(network)?.ika.ikaDwallet2pcMpcOriginalPackage ?? values.ikaPackage;
  if (ika === undefined) throw new UsageError("--ika-package is needed on a localnet");
  const secretHex = secretFile === undefined ? undefined : readSecret(secretFile);
  const apiKey =
    apiKeyFile === undefined ? undefined : new Secret(readPrivateFile(apiKeyFile, "the API key"));
  const secrets = [...urls.map((url) => new Secret(url)), secretHex, apiKey].filter(
    (one) => one !== undefined,
  );
  const log = createLogger({
    level: "info",
    stream: pino.destination({ dest: STANDARD_ERROR, sync: true }),
    secrets,
  });
  const teller =
    webhook === undefined || secretHex === undefined
      ? undefined
      : createTeller({
          url: webhook,
          secretHex,
          log,
          nowMs: () => systemClock.wallMs(),
          // The user of this machine has chosen the URL.
          send: createWebhookSender({ allowsInside: true }),
        });
  const lifecycle = new Lifecycle({ log });
  const ended = runUntilSignal({
    signals: process,
    log,
    stop: () => lifecycle.stop(),
    exit: (code) => process.exit(code),
  });
  try {
    const url = await startWatchtower({
      fullnodes,
      log,
      lifecycle,
      teller,
      from: values.from,
      stateFile: values.state,
      chainId: pinsOf(network)?.chainIdentifier,
      expectsProgress: network !== "localnet",
      packages: { ika, treasury: await treasuryPackage(fullnodes, values.treasury) },
      dwallets: createDWalletList({
        file: values.dwallets,
        fromService:
          service === undefined || apiKey === undefined
            ? undefined
            : (signal) => idsOf({ service, apiKey, network, fullnodeUrl: urls }, signal),
      }),
      logs: values.log ?? [],
      port: values.metricsPort === undefined ? undefined : { host: "127.0.0.1", port: values.metricsPort },
      graceMs: grace === undefined ? undefined : grace * 1_000,
    });
    if (teller !== undefined) context.print(`secret  ${teller.secret}`);
    context.print(`watching${url === undefined ? "" : `, metrics at ${url}/metrics`}`);
  } catch (error) {
    await lifecycle.stop();
    throw error;
  }
  return await ended;
}

interface WatchtowerValues {
  readonly network: Network;
  readonly fullnodes: string;
  readonly dwallets: string | undefined;
  readonly service: string | undefined;
  readonly apiKeyFile: string | undefined;
  readonly treasury: string | undefined;
  readonly ikaPackage: string | undefined;
  readonly log: readonly string[] | undefined;
  readonly state: string;
  readonly from: bigint | undefined;
  readonly webhook: string | undefined;
  readonly secretFile: string | undefined;
  readonly grace: number | undefined;
  readonly metricsPort: number | undefined;
}

const STANDARD_ERROR = 2;
const FULLNODES_MAX_COUNT = 8;

/** A URL may contain a key, so it is in a file. */
function readUrls(file: string): string[] {
  const lines = readFileSync(file, "utf8").split("\n");
  const urls = lines.map((line) => line.trim()).filter((line) => line !== "" && !line.startsWith("#"));
  if (urls.length === 0 || urls.length > FULLNODES_MAX_COUNT || new Set(urls).size < urls.length)
    throw new UsageError(`${file} must name 1 to ${FULLNODES_MAX_COUNT} fullnodes, each once`);
  const isWrong = urls.findIndex((url) => !/^(?:https?|grpcs?):\/\/./.test(url) || !URL.canParse(url));
  if (isWrong >= 0) throw new UsageError(`URL ${isWrong + 1} of ${file} is not an http(s) or grpc(s) URL`);
  return urls;
}

function readSecret(file: string): Secret {
  const secret = readPrivateFile(file, "the secret");
  if (!/^[0-9a-f]{64}$/.test(secret))
    throw new UsageError(`${file} must have 64 hex digits, such as the output of: openssl rand -hex 32`);
  return new Secret(secret);
}

/** All fullnodes must name the same package. */
async function treasuryPackage(
  fullnodes: readonly FullnodeEvents[],
  treasuryId: string | undefined,
): Promise<string | undefined> {
  if (treasuryId === undefined) return undefined;
  const signal = AbortSignal.timeout(30_000);
  const ids = await Promise.all(fullnodes.map((fullnode) => fullnode.treasuryPackage(treasuryId, signal)));
  const [first] = ids;
  if (ids.some((id) => id !== first)) throw new Error("the fullnodes disagree about the Treasury");
  return first;
}

/** The project's dWallets, by the service's word. */
async function* idsOf(
  { service, apiKey, network, fullnodeUrl }: ProjectSource,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const client = createClient({ baseUrl: service, apiKey: apiKey.reveal(), network, fullnodeUrl });
  for await (const { dwalletId } of client.listDWallets({}, { signal }))
    if (dwalletId !== "") yield dwalletId;
}

interface ProjectSource {
  readonly service: string;
  readonly apiKey: Secret;
  readonly network: Network;
  readonly fullnodeUrl: readonly string[];
}
