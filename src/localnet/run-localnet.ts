import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { publishedConfigOf } from "./ika-config.ts";
import { type Localnet, type LocalnetOptions, startLocalnet } from "./localnet.ts";

/** Runs a stand-alone local network until the signal aborts. Prints its addresses and writes its Ika config in two forms. */
export async function runLocalnet(options: RunLocalnetOptions): Promise<void> {
  const localnet = await startLocalnet(options);
  try {
    const configPath = join(options.dataDirectory, IKA_CONFIG_FILE);
    const publishedPath = join(options.dataDirectory, PUBLISHED_CONFIG_FILE);
    const { ikaConfig } = localnet;
    await mkdir(options.dataDirectory, { recursive: true });
    await writeJson(configPath, ikaConfig);
    await writeJson(publishedPath, publishedConfigOf(ikaConfig));
    for (const line of description(localnet, configPath, publishedPath)) options.print(line);
    await fired(options.signal);
  } finally {
    await localnet.close();
  }
}

export interface RunLocalnetOptions extends LocalnetOptions {
  /** The folder for the state, `ika-config.json` and `ika_config.json`. */
  readonly dataDirectory: string;
  /** Stops the network when it aborts. */
  readonly signal: AbortSignal;
  readonly print: (line: string) => void;
}

/** The config file's name in the data folder. Its content is a valid config for `IkaClient`. */
export const IKA_CONFIG_FILE = "ika-config.json";
/** The name of the file with the same ids in the form of Ika's own tools. */
const PUBLISHED_CONFIG_FILE = "ika_config.json";

async function writeJson(path: string, content: unknown): Promise<void> {
  // Renaming ensures that readers never see a partial file.
  await writeFile(`${path}.tmp`, `${JSON.stringify(content, undefined, 2)}\n`);
  await rename(`${path}.tmp`, path);
}

function description(localnet: Localnet, configPath: string, publishedPath: string): string[] {
  const { packages, objects } = localnet.ikaConfig;
  const { treasury } = localnet;
  const rows: readonly (readonly [string, string])[] = [
    ...(localnet.faucetUrl === localnet.url
      ? ([["fullnode and faucet", localnet.url]] as const)
      : ([
          ["fullnode", localnet.url],
          ["faucet", localnet.faucetUrl],
        ] as const)),
    ["chain id", localnet.chainId],
    ["Ika config", configPath],
    ["config of Ika's tools", publishedPath],
    ["ika package", packages.ikaPackage],
    ["ika_system package", packages.ikaSystemPackage],
    ["ika_dwallet_2pc_mpc package", packages.ikaDwallet2pcMpcPackage],
    ["coordinator", objects.ikaDWalletCoordinator.objectID],
    ["system object", objects.ikaSystemObject.objectID],
    ["network encryption key", localnet.networkEncryptionKeyId],
    ["IKA coin type", localnet.ikaCoinType],
    ["treasury package", treasury.packageId],
    ["treasury", treasury.treasuryId],
    ["treasury AdminCap", treasury.adminCapId],
    ...treasury.operatorCapIds.map((id, index) => [`treasury OperatorCap ${index}`, id] as const),
    ["hot wallet", localnet.hotWalletAddress],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`);
}

function fired(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
