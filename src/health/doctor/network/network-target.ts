import { getNetworkConfig, type IkaConfig } from "@ika.xyz/sdk";
import { type ChainNetwork, connectNetwork, type NetworkAccess } from "../../../chain/network.ts";
import { readConfig } from "../../../config/config.ts";
import type { NetworkConfig } from "../../../config/networks.ts";
import { systemClock } from "../../../lifecycle/clock.ts";
import { CHAIN_PINS } from "../../../sdk/chain-pins.ts";
import { Secret } from "../../../telemetry/secret.ts";
import { NotChecked } from "../../checks/health-check.ts";
import { fetchInTime } from "../../fetch-in-time.ts";
import { findAccess } from "../doctor-chain.ts";

/** The known facts about a network before the first call to it. */
export interface NetworkTarget {
  readonly name: TargetNetwork;
  readonly fullnodeUrl: Secret;
  /** The digest of the genesis checkpoint; undefined for a localnet, where any chain is valid. */
  readonly chainIdentifier: string | undefined;
  /** Ika's ids in this version's SDK. */
  readonly ikaConfig: IkaConfig;
  /** Connects to the network and its Treasury. Throws {@link NotChecked} if no Treasury is configured. */
  connect(): Promise<ChainNetwork>;
  /** The maximum numbers in one transaction. */
  readonly batches: { readonly presigns: number; readonly signs: number };
  /** The service's own prices, and those of coins. */
  readonly prices: NetworkConfig["prices"];
  readonly coinPrices: NetworkConfig["deposits"]["prices"];
  /** Values that must not be shown. */
  readonly secrets: readonly Secret[];
}

/** The networks that the doctor can check. */
export const TARGET_NETWORKS = ["localnet", "testnet", "mainnet"] as const;
export type TargetNetwork = (typeof TARGET_NETWORKS)[number];

/** Options of {@link findTarget}. */
export interface TargetOptions {
  readonly name: TargetNetwork;
  /** The fullnode to ask. Default: the configured one, else Sui's public one. */
  readonly fullnodeUrl?: string | undefined;
}

/** Collects the known facts about a network, including those of the configuration if it serves the network. */
export async function findTarget(
  { name, fullnodeUrl: given }: TargetOptions,
  environment?: NodeJS.ProcessEnv,
): Promise<NetworkTarget> {
  const { config, faults, secrets } = readConfig(environment, { NETWORKS: name });
  let access: NetworkAccess | undefined;
  let missing = faults.join("; ");
  const [network] = config.networks;
  if (faults.length === 0 && network.name === name) {
    try {
      access = await findAccess(network);
    } catch (error) {
      missing = error instanceof Error ? error.message : String(error);
    }
  }
  const pins = name === "localnet" ? undefined : CHAIN_PINS[name];
  const isUrlKnown = !faults.some((fault) => fault.includes("SUI_GRPC_URL"));
  const { address } = network;
  const configured = address.name !== "localnet" && isUrlKnown ? address.fullnodeUrl : access?.fullnodeUrl;
  const fullnodeUrl = given === undefined ? configured : new Secret(given);
  const ikaConfig = access?.ikaConfig ?? (name === "localnet" ? undefined : getNetworkConfig(name));
  const publicUrl = pins?.fullnodeUrls[0];
  if (ikaConfig === undefined) throw new NotChecked(missing);
  const url = fullnodeUrl ?? new Secret(publicUrl ?? "");
  return {
    name,
    ikaConfig,
    fullnodeUrl: url,
    chainIdentifier: pins?.chainIdentifier,
    batches: { presigns: network.presignBatchCount, signs: network.submitBatchCount },
    prices: network.prices,
    coinPrices: network.deposits.prices,
    secrets: [...secrets, ...(given === undefined ? [] : [url])],
    async connect() {
      if (access === undefined) throw new NotChecked(`no Treasury is configured for ${name}: ${missing}`);
      if (access.hotWalletSecret === undefined)
        throw new NotChecked(
          "PROCESS_TYPE=api has no hot wallet: run this with the configuration of a worker",
        );
      return connectNetwork({
        ...{ ...access, fullnodeUrl: url, otherFullnodeUrls: [] },
        ...{ fetch: fetchInTime(), clock: systemClock },
      });
    },
  };
}
