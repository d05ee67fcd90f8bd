import { getNetworkConfig, type IkaConfig } from "@ika.xyz/sdk";
import { GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { CHAIN_PINS } from "../../client/sdk/chain/network.ts";
import { canBeChainOf } from "../../protocol/chain/network-traits.ts";
import { fetchFullnode } from "../../service/chain/fullnodes/network-fetch.ts";
import { loadTreasuryConfig } from "../../service/config/config.ts";
import type { NetworkName } from "../../service/config/network.ts";
import { describeLocalnet } from "../../service/config/network-access.ts";
import type { Secret } from "../../service/platform/telemetry/secret.ts";
import type { CommandContext } from "../command-line/command.ts";
import { messageOf, UnreachableError } from "../connections/unreachable-error.ts";
import { findLocalnet } from "../find-quick-start.ts";
import type { TargetValues } from "./change-options.ts";

/**
 * Connects to a fullnode, without the service and its database. Throws if the fullnode serves another network's chain.
 */
export async function openTreasuryChain(
  values: TargetValues,
  context: CommandContext,
): Promise<TreasuryChain> {
  const config = loadTreasuryConfig(values.network, context.environment);
  const { name } = config;
  const url = values.fullnode ?? (await urlOf(config, context));
  const client = createClient(name, url);
  const chainIdentifier = await identify(client, name, url);
  const local = name === "localnet" ? await describeLocalnet(url) : undefined;
  const ikaConfig = local?.ikaConfig ?? getNetworkConfig(name as "testnet" | "mainnet");
  const configured = local?.treasury ?? config;
  const treasuryId = values.treasury ?? configured.treasuryId;
  // The configured package belongs only to the configured Treasury.
  const packageId = treasuryId === configured.treasuryId ? configured.packageId : undefined;
  return {
    name,
    client,
    chainIdentifier,
    ikaConfig,
    treasuryId,
    packageId: values.package ?? packageId,
    ikaCoinType: `${ikaConfig.packages.ikaPackage}::ika::IKA`,
  };
}

/** The chain of the administered Treasury. */
export interface TreasuryChain {
  readonly name: NetworkName;
  readonly client: SuiGrpcClient;
  /** The digest of the chain's first checkpoint. */
  readonly chainIdentifier: string;
  readonly ikaConfig: IkaConfig;
  readonly ikaCoinType: string;
  /** From the options or the configuration; undefined if neither has it. */
  readonly treasuryId: string | undefined;
  readonly packageId: string | undefined;
}

const CALL_TIMEOUT_MS = 60_000;

async function urlOf(
  { name, fullnodeUrl }: { name: NetworkName; fullnodeUrl: Secret | undefined },
  context: CommandContext,
): Promise<string> {
  if (fullnodeUrl !== undefined) return fullnodeUrl.reveal();
  return name === "localnet" ? findLocalnet(context) : (CHAIN_PINS[name].fullnodeUrls[0] ?? "");
}

function createClient(network: NetworkName, baseUrl: string): SuiGrpcClient {
  const inTime: typeof fetch = (input, init) => {
    const deadline = AbortSignal.timeout(CALL_TIMEOUT_MS);
    return fetchFullnode(input, {
      ...init,
      signal: init?.signal ? AbortSignal.any([init.signal, deadline]) : deadline,
    });
  };
  return new SuiGrpcClient({
    network,
    transport: new GrpcWebFetchTransport({ baseUrl, format: "binary", fetch: inTime }),
  });
}

/** Returns the chain's identifier. Throws if it is not that of the network. */
async function identify(client: SuiGrpcClient, name: NetworkName, url: string): Promise<string> {
  // The URL may contain a provider's key.
  const { host } = new URL(url);
  let found: string;
  try {
    found = (await client.core.getChainIdentifier()).chainIdentifier;
  } catch (cause) {
    throw new UnreachableError(`the fullnode at ${host} does not answer: ${messageOf(cause)}`, { cause });
  }
  if (!canBeChainOf(name, found))
    throw new Error(`the fullnode at ${host} does not serve ${name}: its chain is ${found}`);
  return found;
}
