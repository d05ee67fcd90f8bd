import { pino } from "pino";
import { isPublic } from "../../service/config/checks.ts";
import { loadSignerConfig } from "../../service/config/config.ts";
import { BUILD_INFO } from "../../service/operator/health/build-info.ts";
import { runUntilSignal } from "../../service/platform/lifecycle/run-until-signal.ts";
import { createLogger } from "../../service/platform/telemetry/logger.ts";
import { Secret } from "../../service/platform/telemetry/secret.ts";
import { connectSigner, type SignerPlace } from "../../signer/mcp/connect-signer.ts";
import { createMcpTools } from "../../signer/mcp/mcp-tools.ts";
import type { PayloadKind } from "../../signer/mcp/payload-input.ts";
import { openSignatureLedger, type SignatureLedger } from "../../signer/mcp/signature-ledger.ts";
import type { SigningPolicy, TransferLimits } from "../../signer/mcp/signing-policy.ts";
import { readPrivateFile } from "../../signer/store/private-file.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";

/**
 * Serves the keys of a running signer to an agent until a signal, or until the agent's host closes standard input.
 * Standard output has the protocol's messages alone, or `ready at <url>`. Returns the exit code.
 */
export async function serveMcp(values: McpValues, context: CommandContext): Promise<number> {
  const policy = readPolicy(values);
  const place = readPlace(values, context);
  const listen = readListen(values);
  const { serveHttp, serveStdio } = await loadServers();
  const secrets = [listen?.token, "token" in place ? place.token : undefined];
  const log = createLogger({
    level: "info",
    stream: pino.destination({ dest: STANDARD_ERROR, sync: true }),
    secrets: secrets.filter((secret) => secret !== undefined),
  });
  const ledger = policy.keyNames.size > 0 ? openSignatureLedger(values.ledger, values) : NO_LEDGER;
  const tools = createMcpTools({ signer: connectSigner(place), policy, ledger, log });
  const { version } = BUILD_INFO;
  const exit = (code: number) => process.exit(code);
  if (listen !== undefined) {
    const running = await serveHttp(tools, version, listen);
    context.print(`ready at ${running.url}`);
    const stop = async () => running.close().then(() => true);
    return await runUntilSignal({ signals: process, log, stop, exit });
  }
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort();
    return true;
  };
  const signalled = runUntilSignal({ signals: process, log, stop, exit });
  const { stdin: input, stdout: output } = process;
  await Promise.race([serveStdio(tools, version, { input, output, signal: stopping.signal }), signalled]);
  return 0;
}

/** The values of the command line. */
interface McpValues {
  readonly url: string | undefined;
  readonly tokenFile: string | undefined;
  readonly listenPort: number | undefined;
  readonly listenTokenFile: string | undefined;
  readonly allowSign: readonly string[] | undefined;
  readonly payloads: readonly PayloadKind[] | undefined;
  readonly perHour: number;
  readonly perDay: number;
  readonly ledger: string;
  readonly maxWei: bigint | undefined;
  readonly chains: readonly number[] | undefined;
  readonly destinations: readonly string[] | undefined;
  readonly tokens: ReadonlyMap<string, bigint> | undefined;
}

const STANDARD_ERROR = 2;
/** Without a key that may sign, nothing reaches the ledger. */
const NO_LEDGER: SignatureLedger = {
  take() {
    throw new Error("no key may sign");
  },
};
const LEAST_TOKEN = /^[!-~]{32,}$/;

/** The SDK of the protocol is an optional package. */
async function loadServers() {
  try {
    return {
      ...(await import("../../signer/mcp/serve-http.ts")),
      ...(await import("../../signer/mcp/serve-stdio.ts")),
    };
  } catch (cause) {
    throw new Error("`tss signer mcp` needs a package: npm install @modelcontextprotocol/sdk", { cause });
  }
}

function readPolicy(values: McpValues): SigningPolicy {
  const transfers = readTransfers(values);
  const checked: readonly PayloadKind[] = ["evm_transaction", "evm_typed_data"];
  const payloads = values.payloads ?? (transfers === undefined ? TRANSACTIONS : ["evm_transaction"]);
  const unchecked = transfers && payloads.find((kind) => !checked.includes(kind));
  if (unchecked !== undefined)
    throw new UsageError(`--max-wei cannot limit ${unchecked}; name only ${checked.join(",")} in --payloads`);
  if (values.perDay < values.perHour) throw new UsageError("--per-day is less than --per-hour");
  return { keyNames: new Set(values.allowSign), payloads: new Set(payloads), transfers };
}

/** The payloads that are signed unless the command line names others. */
const TRANSACTIONS: readonly PayloadKind[] = [
  "evm_transaction",
  "solana_transaction",
  "sui_transaction",
  "bitcoin_psbt",
];

function readTransfers({ maxWei, chains, destinations, tokens }: McpValues): TransferLimits | undefined {
  if (maxWei === undefined) {
    const other = chains ?? destinations ?? tokens;
    if (other !== undefined) throw new UsageError("--chains, --destinations and --tokens need --max-wei");
    return undefined;
  }
  return {
    maxWei,
    chainIds: chains && new Set(chains),
    destinations: destinations && new Set(destinations),
    tokens: tokens ?? new Map(),
  };
}

function readPlace({ url, tokenFile }: McpValues, { environment }: CommandContext): SignerPlace {
  if (url === undefined) {
    const { socketPath } = loadSignerConfig(environment);
    if (socketPath === undefined) throw new UsageError("SIGNER_SOCKET is off; give --url and --token-file");
    return { socketPath };
  }
  if (tokenFile === undefined) throw new UsageError("--url needs --token-file");
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && isPublic(hostname))
    throw new UsageError("--url must be https, unless the signer is on this machine");
  return { url, token: new Secret(readPrivateFile(tokenFile, "the signer's token")) };
}

function readListen({ listenPort, listenTokenFile }: McpValues) {
  if (listenPort === undefined) return undefined;
  if (listenTokenFile === undefined) throw new UsageError("--listen-port needs --listen-token-file");
  const token = readPrivateFile(listenTokenFile, "the agents' token");
  if (!LEAST_TOKEN.test(token))
    throw new Error("the agents' token must have 32 or more visible ASCII characters: openssl rand -hex 32");
  return { port: listenPort, token: new Secret(token) };
}
