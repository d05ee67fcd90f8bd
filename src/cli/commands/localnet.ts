import { readCallPrices } from "../../localnet/call-prices.ts";
import { loadConfig } from "../../service/config/config.ts";
import { command } from "../command-line/command.ts";
import {
  addressOnSui,
  count,
  defaulted,
  flag,
  httpUrl,
  nonEmptyText,
  operand,
  optional,
  repeated,
  WrongValue,
} from "../command-line/option.ts";
import { messageOf, UnreachableError } from "../connections/unreachable-error.ts";
import { DEFAULT_LOCALNET_URL, findLocalnet } from "../find-quick-start.ts";
import { formatCoins, formatTable } from "../output/format.ts";

export const faucetCommand = command({
  summary: "give an address SUI and IKA on the local network",
  details:
    "Pays a deposit if the address is a project's deposit address: `tss deposit address` prints it.\n" +
    `Without --url, the faucet is at LOCALNET_URL, at the service that runs on DATA_DIR, or at ${DEFAULT_LOCALNET_URL}.`,
  options: {
    address: operand("<address>", "the Sui address to give to", addressOnSui),
    url: optional("<url>", "the local network", httpUrl),
    json: flag("print the faucet's reply as JSON"),
  },
  async run({ address, url, json }, context) {
    const reply = await askFaucet(url ?? (await findLocalnet(context)), address);
    if (reply.status !== "Success") throw new Error(`the faucet refuses: ${reply.status.Failure.internal}`);
    const coins = reply.coins_sent ?? [];
    context.print(json ? JSON.stringify(reply) : describe(coins));
  },
});

const TIMEOUT_MS = 30_000;

/** The reply of the localnet's faucet. */
interface FaucetReply {
  readonly status: "Success" | { readonly Failure: { readonly internal: string } };
  readonly coins_sent: readonly FaucetCoin[] | null;
}
interface FaucetCoin {
  readonly amount: number;
  readonly id: string;
  readonly coinType: string;
  readonly transferTxDigest: string;
}

async function askFaucet(url: string, recipient: string): Promise<FaucetReply> {
  let text: string;
  try {
    const reply = await fetch(new URL("/v2/gas", url), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ FixedAmountRequest: { recipient } }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    text = await reply.text();
  } catch (cause) {
    const why = messageOf(cause instanceof Error && cause.cause !== undefined ? cause.cause : cause);
    throw new UnreachableError(`no local network responds at ${url}: ${why}`, { cause });
  }
  const reply = parse(text);
  if (reply?.status === undefined) throw new Error(`what responds at ${url} is not a local network's faucet`);
  return reply;
}

function parse(text: string): FaucetReply | undefined {
  try {
    return JSON.parse(text) as FaucetReply;
  } catch {
    return undefined;
  }
}

function describe(coins: readonly FaucetCoin[]): string {
  return formatTable(
    [
      {
        title: "AMOUNT",
        of: ({ amount, coinType }) => formatCoins(BigInt(amount), nameOf(coinType)),
        align: "right",
      },
      { title: "COIN", of: ({ id }) => id },
      { title: "TRANSACTION", of: ({ transferTxDigest }) => transferTxDigest },
    ],
    coins,
  );
}

function nameOf(coinType: string): "SUI" | "IKA" {
  return coinType.includes("::ika::IKA") ? "IKA" : "SUI";
}

export const localnetCommand = command({
  summary: "run a local Ika network on a Sui fullnode, and print its ids",
  options: {
    port: defaulted("<port>", "the port to listen on; 0 for any free port", count(0, 65_535), "9000"),
    host: defaulted("<address>", "the address to listen on", nonEmptyText, "127.0.0.1"),
    faucetPort: optional(
      "<port>",
      "another port for the faucet, which is also on the first; Sui's tools expect 9123",
      count(0, 65_535),
    ),
    faucetCoins: defaulted(
      "<count>",
      "the coins of SUI, and of IKA, that the faucet gives",
      count(1, 50),
      "1",
    ),
    price: repeated(
      "<price>",
      "<call>=<ika>,<sui>: the price of a call, or of all, in the smallest units; once for each call",
      callPrice,
    ),
    dataDir: optional("<folder>", "the folder of its chain; default DATA_DIR/localnet", nonEmptyText),
  },
  subcommands: { faucet: faucetCommand },
  async run({ port, host, faucetPort, faucetCoins, price, dataDir }, { environment, print, note }) {
    const { runLocalnet } = await import("../../localnet/run-localnet.ts");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await runLocalnet({
      port,
      host,
      faucetPort,
      faucetCoinCount: faucetCoins,
      prices: readCallPrices(price ?? []),
      dataDirectory: dataDir ?? `${loadConfig(environment).dataDirectory}/localnet`,
      signal: stop.signal,
      print,
      log: (message, fields) => note(JSON.stringify({ message, ...fields })),
    });
  },
});

/** Checks the price of a call, and returns its text. */
function callPrice(text: string): string {
  try {
    readCallPrices([text]);
  } catch (error) {
    throw new WrongValue(error instanceof Error ? error.message : String(error));
  }
  return text;
}
