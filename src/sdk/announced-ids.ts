import type { GetNetworkResponse, SharedObject } from "../../gen/client/tss/v1/onboarding_pb.ts";
import type { IkaIds, SharedObjectId } from "./chain-pins.ts";
import { TssError } from "./errors.ts";

/** Reads the ids that GetNetwork announces. Throws NETWORK_MISMATCH when an id is missing or malformed. */
export function announcedIds({ ikaConfig }: GetNetworkResponse): IkaIds {
  if (ikaConfig === undefined) throw new TssError("NETWORK_MISMATCH", "the service names no Ika objects");
  return {
    ikaPackage: objectId(ikaConfig.ikaPackage),
    ikaSystemOriginalPackage: objectId(ikaConfig.ikaSystemOriginalPackage),
    ikaDwallet2pcMpcOriginalPackage: objectId(ikaConfig.ikaDwallet2pcMpcOriginalPackage),
    ikaSystemObject: sharedObject(ikaConfig.ikaSystemObject),
    ikaDwalletCoordinator: sharedObject(ikaConfig.ikaDwalletCoordinator),
  };
}

/** Throws NETWORK_MISMATCH, with the id's name, unless the service announces exactly the ids that the client pins. */
export function checkAnnouncedIds(pinned: IkaIds, announced: IkaIds): void {
  for (const name of Object.keys(pinned) as (keyof IkaIds)[]) {
    if (text(pinned[name]) === text(announced[name])) continue;
    throw new TssError("NETWORK_MISMATCH", `the service's ${name} differs from the network's`, {
      metadata: { field: name },
    });
  }
}

function text(id: string | SharedObjectId): string {
  return typeof id === "string" ? id : `${id.objectId} ${id.initialSharedVersion}`;
}

function sharedObject(object: SharedObject | undefined): SharedObjectId {
  return {
    objectId: objectId(object?.objectId),
    initialSharedVersion: object?.initialSharedVersion ?? 0n,
  };
}

function objectId(id: string | undefined): string {
  if (id !== undefined && /^0x[0-9a-f]{64}$/.test(id)) return id;
  throw new TssError("NETWORK_MISMATCH", "the service names no Ika objects");
}
