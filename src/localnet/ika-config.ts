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

/**
 * Returns a config in the form that Ika's own tools write for a network that they publish, `ika_config.json`. Clients of
 * an Ika localnet read it in place of the SDK's form.
 */
export function publishedConfigOf({ packages, objects }: IkaConfig): PublishedConfig {
  return {
    packages: {
      ika_package_id: packages.ikaPackage,
      ika_common_package_id: packages.ikaCommonPackage,
      ika_dwallet_2pc_mpc_package_id: packages.ikaDwallet2pcMpcPackage,
      ika_system_package_id: packages.ikaSystemPackage,
    },
    objects: {
      ika_system_object_id: objects.ikaSystemObject.objectID,
      ika_dwallet_coordinator_object_id: objects.ikaDWalletCoordinator.objectID,
    },
  };
}

interface PublishedConfig {
  readonly packages: Readonly<
    Record<
      "ika_package_id" | "ika_common_package_id" | "ika_dwallet_2pc_mpc_package_id" | "ika_system_package_id",
      string
    >
  >;
  readonly objects: Readonly<Record<"ika_system_object_id" | "ika_dwallet_coordinator_object_id", string>>;
}
