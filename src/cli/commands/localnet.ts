import { loadConfig } from "../../config/config.ts";
import { command } from "../command.ts";
import { defaulted, optional } from "../option.ts";
import { count, nonEmptyText } from "../option-values.ts";
import { faucetCommand } from "./faucet.ts";

export const localnetCommand = command({
  summary: "run a local Ika network on a Sui fullnode, and print its ids",
  options: {
    port: defaulted("<port>", "the port to listen on; 0 for any free port", count(0, 65_535), "9000"),
    host: defaulted("<address>", "the address to listen on", nonEmptyText, "127.0.0.1"),
    dataDir: optional("<folder>", "the folder of its chain; default DATA_DIR/localnet", nonEmptyText),
  },
  subcommands: { faucet: faucetCommand },
  async run({ port, host, dataDir }, { environment, print, note }) {
    const { runLocalnet } = await import("../../localnet/run-localnet.ts");
    const stop = new AbortController();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
    await runLocalnet({
      port,
      host,
      dataDirectory: dataDir ?? `${loadConfig(environment).dataDirectory}/localnet`,
      signal: stop.signal,
      print,
      log: (message, fields) => note(JSON.stringify({ message, ...fields })),
    });
  },
});
