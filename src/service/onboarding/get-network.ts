import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type GetNetworkResponse,
  GetNetworkResponseSchema,
  type SharedObjectSchema,
} from "../../../gen/proto/tss/v1/onboarding_pb.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import { type NetworkReader, newestKey } from "../chain/reader.ts";
import type { ParameterBuilder } from "./build-parameters.ts";
import { curveEnum } from "./encryption-keys.ts";

/** Returns the network as clients need it, with the parameters that are ready. */
export async function describeNetwork(deps: {
  readonly network: ChainNetwork;
  readonly reader: Pick<NetworkReader, "networkKeys">;
  readonly parameters: ParameterBuilder;
}): Promise<GetNetworkResponse> {
  const { network, reader, parameters } = deps;
  const keys = await reader.networkKeys();
  const key = newestKey(keys);
  const { packages, objects } = network.ikaConfig;
  return create(GetNetworkResponseSchema, {
    network: network.name,
    fullnodeUrl: network.publicFullnodeUrl ?? "",
    senderAddresses: [network.senderAddress],
    networkEncryptionKeyId: key.id,
    networkEncryptionKeyEpoch: BigInt(key.epoch),
    ikaConfig: {
      ikaPackage: packages.ikaPackage,
      ikaCommonPackage: packages.ikaCommonPackage,
      ikaSystemOriginalPackage: packages.ikaSystemOriginalPackage,
      ikaSystemPackage: packages.ikaSystemPackage,
      ikaDwallet2pcMpcOriginalPackage: packages.ikaDwallet2pcMpcOriginalPackage,
      ikaDwallet2pcMpcPackage: packages.ikaDwallet2pcMpcPackage,
      ikaSystemObject: sharedObject(objects.ikaSystemObject),
      ikaDwalletCoordinator: sharedObject(objects.ikaDWalletCoordinator),
    },
    treasuryId: network.treasury.treasuryId,
    treasuryPackageId: network.treasury.packageId,
    networkEncryptionKeyIds: keys.map(({ id }) => id),
    protocolParameters: parameters.ready().map(({ curve, sha256, sizeBytes, networkKeyId }) => ({
      curve: curveEnum(curve),
      sha256,
      sizeBytes: BigInt(sizeBytes),
      networkEncryptionKeyId: networkKeyId,
    })),
  });
}

function sharedObject(ref: {
  readonly objectID: string;
  readonly initialSharedVersion: number;
}): MessageInitShape<typeof SharedObjectSchema> {
  return { objectId: ref.objectID, initialSharedVersion: BigInt(ref.initialSharedVersion) };
}
