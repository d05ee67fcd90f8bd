import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { type Localnet, startLocalnet } from "../../../src/localnet/localnet.ts";
import { startApp } from "../../../src/service/app/app.ts";
import { loadConfig } from "../../../src/service/config/config.ts";
import { Lifecycle } from "../../../src/service/platform/lifecycle/lifecycle.ts";
import { createCheapMpc } from "../../unit/localnet/cheap-mpc.ts";
import { silentLog } from "../silent-log.ts";

/** The whole service in this process, on a localnet with cheap MPC. */
export interface AppInProcess {
  readonly url: string;
  readonly localnet: Localnet;
  /** Its environment, for other parts with the same configuration. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts it on free ports in its own folder, on the embedded database unless DATABASE_URL is given. */
export async function startAppInProcess(overrides: Record<string, string> = {}): Promise<AppInProcess> {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-app-"));
  const localnet = await startLocalnet({ mpc: createCheapMpc() });
  const environment = { DATA_DIR: folder, PORT: "0", LOCALNET_URL: localnet.url, ...overrides };
  const lifecycle = new Lifecycle({ log: silentLog });
  const stop = async () => {
    await lifecycle.stop();
    await localnet.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { url } = await startApp(loadConfig(environment), { log: pino({ level: "silent" }), lifecycle });
    return { url, localnet, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
