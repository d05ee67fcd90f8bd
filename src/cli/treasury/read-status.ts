import { type NetworkPrices, type OperationPrice, readPrices } from "../../chain/treasury/read-prices.ts";
import {
  type AnnouncedRelease,
  readPriceCeilings,
  readReleases,
  type SharedTreasury,
} from "../../chain/treasury/read-treasury-object.ts";
import { readUpgradeCap, type UpgradeCapHolder } from "../../chain/treasury/read-upgrade-cap.ts";
import { type OpenTreasury, readOwned } from "./open-treasury.ts";
import { type ChainEpoch, readEpoch } from "./sui-epoch.ts";

/** Reads a Treasury's status from the chain. */
export async function readStatus(opened: OpenTreasury): Promise<TreasuryStatus> {
  const { client, treasury, ikaConfig, name, chainIdentifier, packageId } = opened;
  const [epoch, ceilings, { prices }, releases, adminCap, upgradeCap] = await Promise.all([
    readEpoch(opened),
    readPriceCeilings(client, treasury),
    readPrices(client, ikaConfig.objects.ikaDWalletCoordinator.objectID),
    readReleases(client, treasury),
    readOwned(opened, treasury.adminCapId),
    readUpgradeCap(client, treasury.typePackageId),
  ]);
  return {
    ...{ network: name, chainIdentifier, packageId, treasury, epoch, ceilings, prices, releases },
    ...{ adminHolder: adminCap?.owner, upgradeCap },
  };
}

/** A Treasury, with the prices, capabilities and releases that concern it. */
export interface TreasuryStatus {
  readonly network: string;
  readonly chainIdentifier: string;
  readonly packageId: string;
  readonly treasury: SharedTreasury;
  readonly epoch: ChainEpoch;
  readonly ceilings: readonly OperationPrice[];
  readonly prices: NetworkPrices["prices"];
  readonly releases: readonly AnnouncedRelease[];
  /** Undefined if no address holds the AdminCap. */
  readonly adminHolder: string | undefined;
  readonly upgradeCap: UpgradeCapHolder;
}
