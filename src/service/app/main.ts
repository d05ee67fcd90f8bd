import { acceptConfig, readConfig } from "../config/config.ts";
import { Lifecycle } from "../platform/lifecycle/lifecycle.ts";
import { runUntilSignal } from "../platform/lifecycle/run-until-signal.ts";
import { createLogger, openLogStream } from "../platform/telemetry/logger.ts";
import { createTerminalLog } from "../platform/telemetry/terminal-log.ts";
import { startApp } from "./app.ts";

/**
 * Runs the service until a signal. Logs go to standard error: as JSON lines, or as short text if standard output and
 * standard error are a terminal. Standard output says `ready at <url>` once, when calls are answered. Returns the exit
 * code, 0 after a clean stop. `afterRestore` says that the database is an older copy and nothing else uses it or the hot
 * wallet.
 */
export async function serve({ afterRestore }: { readonly afterRestore: boolean }): Promise<number> {
  const reading = readConfig();
  const config = acceptConfig(reading);
  const { secrets } = reading;
  const { stdout, stderr } = process;
  const terminal = stdout.isTTY && stderr.isTTY ? createTerminalLog(stderr) : undefined;
  const log = createLogger({ level: config.logLevel, stream: terminal ?? openLogStream(), secrets });
  for (const warning of reading.warnings) log.warn(warning);
  const lifecycle = new Lifecycle({
    log,
    stopTimeoutMs: config.drainDelayMs + config.drainTimeoutMs + 5_000,
  });
  let isStopping = false;
  const ended = runUntilSignal({
    signals: process,
    log,
    stop: () => {
      isStopping = true;
      return lifecycle.stop();
    },
    exit: (code) => process.exit(code),
  });
  try {
    const { url, banner } = await startApp(config, {
      log,
      lifecycle,
      afterRestore,
    });
    terminal?.ready();
    for (const line of banner) console.log(line);
    console.log(`ready at ${url}`);
  } catch (error) {
    await lifecycle.stop();
    // A failure because of the stop is not a failure of the start.
    if (!isStopping) throw error;
    log.info("stopped before it was ready");
  }
  return await ended;
}
