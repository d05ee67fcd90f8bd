import {
  localTreasuryPackage,
  type MovePackage,
  packageDigest,
  treasuryPackageOf,
} from "../../localnet/contracts/treasury/treasury-package.ts";
import {
  readTreasuryObject,
  type SharedTreasury,
} from "../../service/chain/treasury/read-treasury-object.ts";
import type { OwnedRef } from "../../service/chain/treasury/treasury-calls.ts";
import { loadTreasuryConfig } from "../../service/config/config.ts";
import type { NetworkName } from "../../service/config/network.ts";
import { type CommandContext, UsageError } from "../command-line/command.ts";
import type { TargetValues } from "./change-options.ts";
import type { TreasuryChain } from "./open-treasury-chain.ts";
import type { ReviewSubject } from "./review-commands.ts";

/** Connects to a fullnode and reads the Treasury. Throws a UsageError if no Treasury is known. */
export async function openTreasury(values: TargetValues, context: CommandContext): Promise<OpenTreasury> {
  const { name, treasuryId: configured } = loadTreasuryConfig(values.network, context.environment);
  // A local network reports its own Treasury.
  if (name !== "localnet") knownTreasury(name, values.treasury ?? configured);
  const { openTreasuryChain } = await import("./open-treasury-chain.ts");
  const chain = await openTreasuryChain(values, context);
  const treasuryId = knownTreasury(name, chain.treasuryId);
  const treasury = await readTreasuryObject(chain.client, treasuryId);
  return { ...chain, treasuryId, treasury, packageId: chain.packageId ?? treasury.typePackageId };
}

function knownTreasury(network: string, treasuryId: string | undefined): string {
  if (treasuryId !== undefined) return treasuryId;
  const variable = `SERVICECORE_${network.toUpperCase()}_TREASURY_ID`;
  throw new UsageError(`no Treasury is configured for ${network}: set --treasury or ${variable}`);
}

/** A Treasury on its chain. */
export interface OpenTreasury extends TreasuryChain {
  readonly treasuryId: string;
  readonly treasury: SharedTreasury;
  /** The package to call. */
  readonly packageId: string;
}

/** Returns the objects that a transaction on this chain may concern. */
export function reviewSubject(chain: TreasuryChain | OpenTreasury): ReviewSubject {
  const typePackageId = "treasury" in chain ? [chain.treasury.typePackageId] : [];
  return {
    network: chain.name,
    chainIdentifier: chain.chainIdentifier,
    treasuryId: "treasury" in chain ? chain.treasuryId : undefined,
    packageIds: [...(chain.packageId === undefined ? [] : [chain.packageId]), ...typePackageId],
    packageDigest: packageDigest(packageFor(chain)),
  };
}

/** Returns the Treasury's package for a network. */
export function packageFor({ name, ikaConfig }: Pick<TreasuryChain, "name" | "ikaConfig">): MovePackage {
  return name === "localnet" ? localTreasuryPackage(ikaConfig.packages) : treasuryPackageOf(name);
}

/** Reads an object that an address owns. Undefined if it does not exist, or no address owns it. */
export async function readOwned(
  { client }: Pick<TreasuryChain, "client">,
  id: string,
): Promise<(OwnedRef & { readonly owner: string; readonly type: string }) | undefined> {
  const { objects } = await client.core.getObjects({ objectIds: [id] });
  const [object] = objects;
  if (object === undefined || object instanceof Error || object.owner.$kind !== "AddressOwner")
    return undefined;
  const { objectId, version, digest, type } = object;
  return { objectId, version, digest, type, owner: object.owner.AddressOwner };
}

/** Returns the lines that configure a service for a Treasury. */
export function configurationLines(network: NetworkName, ids: ConfiguredIds): string[] {
  const prefix = `SERVICECORE_${network.toUpperCase()}`;
  return [
    "\nThe service's configuration:",
    ...(network === "localnet"
      ? [
          "(A service on the local network needs no configuration: it uses the Treasury that the network started with.)",
        ]
      : []),
    `${prefix}_PACKAGE_ID=${ids.packageId}`,
    `${prefix}_TREASURY_ID=${ids.treasuryId}`,
    `${prefix}_OPERATOR_CAP_IDS=${ids.operatorCapIds}`,
  ];
}

interface ConfiguredIds {
  readonly packageId: string;
  readonly treasuryId: string;
  /** Separated by commas. */
  readonly operatorCapIds: string;
}
