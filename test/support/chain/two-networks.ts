import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { pino } from "pino";
import { type Localnet, type LocalnetOptions, startLocalnet } from "../../../src/localnet/localnet.ts";
import { type AppOptions, startApp } from "../../../src/service/app/app.ts";
import { loadConfig } from "../../../src/service/config/config.ts";
import { readNetworkAccess } from "../../../src/service/config/network-access.ts";
import { Lifecycle } from "../../../src/service/platform/lifecycle/lifecycle.ts";
import { createSimMpc } from "../../sim/sim-mpc.ts";
import { silentLog } from "../silent-log.ts";

/** The operator's key of the service. */
export const ADMIN_KEY = randomBytes(24).toString("base64url");

/** A localnet that poses as testnet or mainnet. */
export interface PosingNetwork {
  readonly name: "testnet" | "mainnet";
  readonly localnet: Localnet;
  readonly hotWalletSecretHex: string;
  /** The options with which the same chain restarts. */
  readonly options: LocalnetOptions;
}

/** Starts a localnet with its own keys and objects. Its signatures are real, without MPC. */
export async function posingNetwork(
  name: PosingNetwork["name"],
  more: LocalnetOptions = {},
): Promise<PosingNetwork> {
  const secret = new Uint8Array(randomBytes(32));
  const options = {
    mpc: createSimMpc(),
    seed: new Uint8Array(randomBytes(32)),
    hotWalletAddress: Ed25519Keypair.fromSecretKey(secret).toSuiAddress(),
    ...more,
  };
  const localnet = await startLocalnet(options);
  return { name, localnet, hotWalletSecretHex: Buffer.from(secret).toString("hex"), options };
}

/** A service of two networks in this process. */
export interface TwoNetworkService {
  readonly url: string;
  /** Its environment, without the options that make the networks pose. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Starts the service on a free port. The networks pose through an option that no environment variable sets. */
export async function startTwoNetworks(
  databaseUrl: string,
  networks: readonly PosingNetwork[],
  overrides: Record<string, string> = {},
): Promise<TwoNetworkService> {
  const folder = mkdtempSync(path.join(tmpdir(), "tss-two-"));
  const environment = { DATA_DIR: folder, ...posingEnvironment(databaseUrl, networks), ...overrides };
  const lifecycle = new Lifecycle({ log: silentLog });
  const stop = async () => {
    await lifecycle.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const { url } = await startApp(loadConfig(environment), {
      log: pino({ level: "silent" }),
      lifecycle,
      openAccess: posingAccess(networks),
    });
    return { url, environment, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the environment of a service of these networks, without its data directory. */
export function posingEnvironment(
  databaseUrl: string,
  networks: readonly PosingNetwork[],
): Record<string, string> {
  return {
    PORT: "0",
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: "4",
    ADMIN_API_KEY: ADMIN_KEY,
    // Real tables cannot be built from these networks' keys.
    PROTOCOL_PARAMETERS: "off",
    PRESIGN_BUCKETS: "SECP256K1/ECDSASecp256k1",
    NETWORKS: networks.map(({ name }) => name).join(),
    ...Object.assign({}, ...networks.map(environmentOf)),
  };
}

/** Returns the option of tests that makes the networks pose. */
export function posingAccess(networks: readonly PosingNetwork[]): NonNullable<AppOptions["openAccess"]> {
  return async (network) => {
    const access = await readNetworkAccess(network);
    const pose = networks.find(({ name }) => name === network.name);
    if (access === undefined || pose === undefined) throw new Error(`nothing poses as ${network.name}`);
    return { ...access, ikaConfig: pose.localnet.ikaConfig, isPosing: true };
  };
}

function environmentOf({ name, localnet, hotWalletSecretHex }: PosingNetwork): Record<string, string> {
  const upper = name.toUpperCase();
  const { packageId, treasuryId, operatorCapIds } = localnet.treasury;
  return {
    [`SUI_GRPC_URL_${upper}`]: localnet.url,
    [`SERVICECORE_${upper}_PACKAGE_ID`]: packageId,
    [`SERVICECORE_${upper}_TREASURY_ID`]: treasuryId,
    [`SERVICECORE_${upper}_OPERATOR_CAP_IDS`]: operatorCapIds.join(),
    [`HOT_WALLET_SUI_SECRET_HEX_${upper}`]: hotWalletSecretHex,
  };
}

/** Makes an operator's call over REST. Returns the status and the reply. */
export async function operatorCall(
  url: string,
  route: string,
  { network, body }: { readonly network?: string; readonly body?: object } = {},
): Promise<{ readonly status: number; readonly reply: Record<string, unknown> }> {
  const response = await fetch(`${url}${route}`, {
    method: body === undefined ? "GET" : "POST",
    headers: {
      authorization: `Bearer ${ADMIN_KEY}`,
      "content-type": "application/json",
      ...(network !== undefined && { "x-network": network }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, reply: (await response.json()) as Record<string, unknown> };
}

/** Makes a project with credit on a network, and a key for it. */
export async function fundedProject(
  url: string,
  network: string,
  amountMicroUsd: string,
): Promise<{ readonly projectId: string; readonly apiKey: string }> {
  const made = await operatorCall(url, "/v1/admin/projects", { network, body: { name: `on ${network}` } });
  const { projectId } = made.reply["project"] as { projectId: string };
  const credit = { projectId, amountMicroUsd, reason: "test" };
  const adjusted = await operatorCall(url, `/v1/admin/projects/${projectId}/credit`, {
    network,
    body: credit,
  });
  if (adjusted.status !== 200) throw new Error(JSON.stringify(adjusted.reply));
  const key = await operatorCall(url, `/v1/admin/projects/${projectId}/api-keys`, {
    network,
    body: { name: "test", scopes: ["onboard", "sign", "read", "billing"] },
  });
  return { projectId, apiKey: String(key.reply["plaintext"]) };
}
