import { CoordinatorInnerDynamicField, getNetworkConfig, type IkaConfig } from "@ika.xyz/sdk";
import { GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { CHAIN_PINS } from "../../../../../client/sdk/chain/network.ts";
import { bindAnswers } from "../../../../../protocol/chain/bind-answers.ts";
import { parseStruct } from "../../../../../protocol/chain/chain-objects.ts";
import { type ChainReader, createChainReader } from "../../../../../protocol/chain/chain-reader.ts";
import { DWalletCoordinator } from "../../../../../protocol/chain/chain-structs.ts";
import { coordinatorInnerId } from "../../../../../protocol/chain/coordinator-objects.ts";
import { Address } from "../../../../../protocol/chain/fast-bcs.ts";
import {
  type ChainNetwork,
  connectNetwork,
  type NetworkAccess,
} from "../../../../chain/fullnodes/network.ts";
import { readConfig } from "../../../../config/config.ts";
import type { NetworkName } from "../../../../config/network.ts";
import type { NetworkConfig } from "../../../../config/networks.ts";
import { systemClock } from "../../../../platform/lifecycle/clock.ts";
import { Secret } from "../../../../platform/telemetry/secret.ts";
import { NotChecked, needed, once } from "../../checks/health-check.ts";
import { fetchInTime } from "../../fetch-in-time.ts";
import { findAccess } from "../doctor-chain.ts";

/** Opens the view without sending anything. */
export function openNetworkView({
  name,
  fullnodeUrl,
  chainIdentifier,
  ikaConfig,
}: NetworkTarget): NetworkView {
  const baseUrl = fullnodeUrl.reveal();
  const transport = new GrpcWebFetchTransport({ baseUrl, format: "binary", fetch: fetchInTime() });
  const client = new SuiGrpcClient({ network: name, transport: bindAnswers(transport) });
  const objects = createChainReader(client.core);
  const { objectID: coordinatorId } = ikaConfig.objects.ikaDWalletCoordinator;

  const rightChain = once(async () => {
    const found = await needed(client.core.getChainIdentifier(), "the fullnode does not answer");
    if (chainIdentifier !== undefined && found.chainIdentifier !== chainIdentifier)
      throw new NotChecked("the fullnode serves another chain");
  });
  const one = async (id: string, what: string): Promise<Uint8Array> => {
    const content = (await (await view.reader()).getObjects([id])).get(id);
    if (content === undefined) throw new Error(`the fullnode lacks ${what} ${id}`);
    return content;
  };
  const outer = once(() => one(coordinatorId, "the coordinator"));
  const innerContent = once(async () =>
    one(coordinatorInnerId(coordinatorId, await outer()), "the coordinator's state"),
  );
  const view: NetworkView = {
    client,
    innerContent,
    async reader() {
      await rightChain();
      return objects;
    },
    coordinator: once(async () => parseStruct("coordinator", DWalletCoordinator, await outer())),
    state: once(async () => {
      const content = await innerContent();
      try {
        return CoordinatorInnerDynamicField.parse(content).value;
      } catch (cause) {
        throw new Error("the Ika SDK of this version does not know the layout of the coordinator's state", {
          cause,
        });
      }
    }),
    async idsIn(tableId) {
      await view.reader();
      const { dynamicFields } = await client.core.listDynamicFields({ parentId: tableId, cursor: null });
      return dynamicFields.map(({ name: key }) => Address.parse(key.bcs));
    },
  };
  return view;
}

/**
 * A network as the checks see it. Reads each part on its first use. All parts throw {@link NotChecked} after a failed
 * step.
 */
export interface NetworkView {
  readonly client: SuiGrpcClient;
  /** Returns a reader of objects. Throws {@link NotChecked} if the fullnode serves another chain. */
  reader(): Promise<ChainReader>;
  coordinator(): Promise<CoordinatorHead>;
  /** The bytes of the coordinator's state. */
  innerContent(): Promise<Uint8Array>;
  state(): Promise<CoordinatorState>;
  /** Returns the keys of the entries on a table's first page, for a table with ids as keys. */
  idsIn(tableId: string): Promise<string[]>;
}

/** The coordinator's outer object. */
type CoordinatorHead = (typeof DWalletCoordinator)["$inferType"];
/** The coordinator's state, as the Ika SDK reads it. */
export type CoordinatorState = (typeof CoordinatorInnerDynamicField)["$inferType"]["value"];

/** The known facts about a network before the first call to it. */
export interface NetworkTarget {
  readonly name: NetworkName;
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

/** Options of {@link findTarget}. */
export interface TargetOptions {
  readonly name: NetworkName;
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
        ...access,
        fullnodeUrl: url,
        otherFullnodeUrls: [],
        fetch: fetchInTime(),
        clock: systemClock,
      });
    },
  };
}
