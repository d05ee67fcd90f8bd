import { parseArgs } from "node:util";
import { loadConfig } from "../config.ts";
import { runLocalnet } from "../localnet/run-localnet.ts";

const DEFAULT_PORT = 9000;

/** `tss localnet [--port 9000] [--host 127.0.0.1] [--data-dir .data/localnet]`: the network alone, until a signal. */
export async function runLocalnetCommand(argv: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...argv],
    options: { port: { type: "string" }, host: { type: "string" }, "data-dir": { type: "string" } },
  });
  const port = values.port === undefined ? DEFAULT_PORT : Number(values.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new Error(`--port takes 0 to 65535, not ${values.port}`);
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  await runLocalnet({
    port,
    host: values.host ?? "127.0.0.1",
    dataDirectory: values["data-dir"] ?? `${loadConfig().dataDirectory}/localnet`,
    signal: stop.signal,
    print: (line) => console.log(line),
    log: (message, fields) => console.error(JSON.stringify({ message, ...fields })),
  });
}
