import type { IkaConfig } from "@ika.xyz/sdk";
import type { NetworkAddresses } from "./contracts/addresses.ts";

/**
 * Returns the network's ids in the form of `IkaClient`. Each call returns a new object, because a client changes its
 * own.
 */
export function ikaConfigOf(addresses: NetworkAddresses): IkaConfig {
  return {
    packages: {
      ikaPackage: addresses.ikaPackageId,
      ikaCommonPackage: addresses.ikaCommonPackageId,
      ikaSystemOriginalPackage: addresses.ikaSystemPackageId,
      ikaSystemPackage: addresses.ikaSystemPackageId,
      ikaDwallet2pcMpcOriginalPackage: addresses.dwalletPackageId,
      ikaDwallet2pcMpcPackage: addresses.dwalletPackageId,
    },
    objects: {
      ikaSystemObject: { objectID: addresses.systemId, initialSharedVersion: 1 },
      ikaDWalletCoordinator: { objectID: addresses.coordinatorId, initialSharedVersion: 1 },
    },
  };
}
