import type { IkaConfig as SdkIkaConfig } from "@ika.xyz/sdk";
import type { ClientWithCoreApi } from "@mysten/sui/client";
import type { GetNetworkResponse } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Action } from "./action.ts";
import type { ParametersSource } from "./context.ts";
import { TssError } from "./errors.ts";
import type { Network } from "./names.ts";
import type { NetworkSource } from "./network.ts";

/**
 * Parameters built from the chain by the Ika SDK, which nobody but the network has a say in: 10 to 17 s for each
 * curve, and 45 MB. On testnet and mainnet the object ids are the Ika SDK's own, and the service must name the same.
 * The Ika SDK is loaded when it is first needed.
 */
export function createChainParameters(
  network: Network,
  source: NetworkSource,
  suiClient: (action: Action) => Promise<ClientWithCoreApi>,
): ParametersSource {
  const inMemory = new Map<string, Uint8Array>();
  return {
    async load(action, { curve, networkEncryptionKeyId }) {
      const key = `${networkEncryptionKeyId} ${curve}`;
      const known = inMemory.get(key);
      if (known !== undefined) return known;
      const ika = await import("@ika.xyz/sdk");
      const announced = announcedConfig(await source.known(action));
      const trusted = network === "localnet" ? announced : ika.getNetworkConfig(network);
      checkAgreement(trusted, announced);
      // The Ika client writes into its config, so it gets a copy of its own.
      const client = new ika.IkaClient({
        suiClient: await suiClient(action),
        config: structuredClone(trusted),
        encryptionKeyOptions: { encryptionKeyID: networkEncryptionKeyId },
      });
      const keys = await client.getAllNetworkEncryptionKeys();
      if (!keys.some(({ id }) => id === networkEncryptionKeyId)) {
        throw new TssError(
          "PARAMETERS_MISMATCH",
          "the chain has no network encryption key with the announced id",
        );
      }
      action.signal.throwIfAborted();
      const octets = await client.getProtocolPublicParameters(undefined, curve);
      inMemory.set(key, octets);
      return octets;
    },
  };
}

/** The ids that GetNetwork names, in the form that `IkaClient` takes. */
export function announcedConfig({ ikaConfig }: GetNetworkResponse): SdkIkaConfig {
  const { ikaSystemObject, ikaDwalletCoordinator } = ikaConfig ?? {};
  if (ikaConfig === undefined || ikaSystemObject === undefined || ikaDwalletCoordinator === undefined) {
    throw new TssError("NETWORK_MISMATCH", "the service names no Ika objects");
  }
  return {
    packages: {
      ikaPackage: ikaConfig.ikaPackage,
      ikaCommonPackage: ikaConfig.ikaCommonPackage,
      ikaSystemOriginalPackage: ikaConfig.ikaSystemOriginalPackage,
      ikaSystemPackage: ikaConfig.ikaSystemPackage,
      ikaDwallet2pcMpcOriginalPackage: ikaConfig.ikaDwallet2pcMpcOriginalPackage,
      ikaDwallet2pcMpcPackage: ikaConfig.ikaDwallet2pcMpcPackage,
    },
    objects: {
      ikaSystemObject: {
        objectID: ikaSystemObject.objectId,
        initialSharedVersion: Number(ikaSystemObject.initialSharedVersion),
      },
      ikaDWalletCoordinator: {
        objectID: ikaDwalletCoordinator.objectId,
        initialSharedVersion: Number(ikaDwalletCoordinator.initialSharedVersion),
      },
    },
  };
}

/** Objects and first packages never change; the newest packages may be ahead of the Ika SDK's table. */
function checkAgreement(trusted: SdkIkaConfig, announced: SdkIkaConfig): void {
  const pairs = [
    [trusted.objects.ikaSystemObject.objectID, announced.objects.ikaSystemObject.objectID],
    [trusted.objects.ikaDWalletCoordinator.objectID, announced.objects.ikaDWalletCoordinator.objectID],
    [trusted.packages.ikaDwallet2pcMpcOriginalPackage, announced.packages.ikaDwallet2pcMpcOriginalPackage],
    [trusted.packages.ikaSystemOriginalPackage, announced.packages.ikaSystemOriginalPackage],
  ];
  if (pairs.some(([own, other]) => own !== other)) {
    throw new TssError("NETWORK_MISMATCH", "the service names other Ika objects than the network has");
  }
}
