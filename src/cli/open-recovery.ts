import type { IkaConfig } from "@ika.xyz/sdk";
import type { IkaObjects } from "../client/sdk/chain/network.ts";
import { createRecovery, type Recovery } from "../client/sdk/recovery.ts";
import { loadTreasuryConfig } from "../service/config/config.ts";
import type { NetworkName } from "../service/config/network.ts";
import { describeLocalnet } from "../service/config/network-access.ts";
import { type CommandContext, UsageError } from "./command-line/command.ts";
import { findLocalnet } from "./find-quick-start.ts";

/** Returns a recovery on the network's chain, with the Treasury if one is known. It calls no service. */
export async function openRecovery(values: RecoveryValues, context: CommandContext): Promise<OpenRecovery> {
  const config = loadTreasuryConfig(values.network, context.environment);
  const { name: network, packageId } = config;
  const configured = values.fullnodeUrl ?? config.fullnodeUrl?.reveal();
  if (network !== "localnet") {
    const treasuryId = values.treasury ?? config.treasuryId;
    const recovery = createRecovery({ network, treasuryId, fullnodeUrl: configured });
    return { recovery, network, treasuryId, packageId };
  }
  const fullnodeUrl = configured ?? (await findLocalnet(context));
  const local = await describeLocalnet(fullnodeUrl.replace(/^grpc/i, "http"));
  const treasuryId = values.treasury ?? local.treasury.treasuryId;
  const ika = objectsOf(local.ikaConfig);
  const recovery = createRecovery({ network, treasuryId, fullnodeUrl, ika });
  return { recovery, network, treasuryId, packageId };
}

/** A recovery and what it was opened for. */
export interface OpenRecovery {
  readonly recovery: Recovery;
  readonly network: NetworkName;
  /** Undefined if none is given or configured. */
  readonly treasuryId: string | undefined;
  /** The configured package of the Treasury. Undefined: the first one. */
  readonly packageId: string | undefined;
}

function objectsOf({ packages, objects }: IkaConfig): IkaObjects {
  return {
    ikaDwallet2pcMpcOriginalPackage: packages.ikaDwallet2pcMpcOriginalPackage,
    ikaDwalletCoordinator: { objectId: objects.ikaDWalletCoordinator.objectID },
  };
}

/** Values of the options that choose the chain and the Treasury. */
export interface RecoveryValues {
  readonly network: NetworkName | undefined;
  readonly fullnodeUrl: string | undefined;
  readonly treasury: string | undefined;
}

/** Creates the error for a command that needs a Treasury. */
export function noTreasury(network: NetworkName): UsageError {
  const variable = `SERVICECORE_${network.toUpperCase()}_TREASURY_ID`;
  return new UsageError(`no Treasury is configured for ${network}: set --treasury or ${variable}`);
}
