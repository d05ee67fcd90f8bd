#!/usr/bin/env node
/** The command of the package of the local network alone. The service's package has `tss localnet`. */
import { parseArgs } from "node:util";
import { type CallPrices, readCallPrices } from "./call-prices.ts";
import { FAUCET_COINS_MAX_COUNT } from "./faucet.ts";
import { runLocalnet } from "./run-localnet.ts";

const USAGE = `usage: tss-localnet [options]

Runs an Ika network with a Sui fullnode in one process, and prints its ids.

  --port <port>           the port to listen on; 0 for any free port; default 9000
  --host <address>        the address to listen on; default 127.0.0.1
  --faucet-port <port>    another port for the faucet; Sui's tools expect 9123
  --faucet-coins <count>  the coins of SUI, and of IKA, that the faucet gives, up to ${FAUCET_COINS_MAX_COUNT}; default 1
  --price <price>         <call>=<ika>,<sui>: the price of a call of Ika, or of all, in the smallest units; once for each call
  --data-dir <folder>     the folder of its chain; default .localnet`;

try {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "9000" },
      host: { type: "string", default: "127.0.0.1" },
      "faucet-port": { type: "string" },
      "faucet-coins": { type: "string", default: "1" },
      price: { type: "string", multiple: true, default: [] },
      "data-dir": { type: "string", default: ".localnet" },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else {
    const faucetPort = values["faucet-port"];
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await runLocalnet({
      port: wholeNumber("port", values.port, 65_535),
      host: values.host,
      faucetPort: faucetPort === undefined ? undefined : wholeNumber("faucet-port", faucetPort, 65_535),
      faucetCoinCount: wholeNumber("faucet-coins", values["faucet-coins"], FAUCET_COINS_MAX_COUNT),
      prices: prices(values.price),
      dataDirectory: values["data-dir"],
      signal: stop.signal,
      print: (line) => console.log(line),
      log: (message, fields) => console.error(JSON.stringify({ message, ...fields })),
    });
  }
} catch (error) {
  console.error(`tss-localnet: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}

function wholeNumber(name: string, text: string, max: number): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > max) throw new Error(`--${name} takes a number up to ${max}`);
  return Number(text);
}

function prices(items: readonly string[]): CallPrices {
  try {
    return readCallPrices(items);
  } catch (error) {
    throw new Error(`--price ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
