import { type Action, runAction } from "../../../../src/client/sdk/action.ts";
import type { Fullnode } from "../../../../src/client/sdk/chain/fullnode.ts";
import type { IkaIds } from "../../../../src/client/sdk/chain/network.ts";
import { type Localnet, type LocalnetOptions, startLocalnet } from "../../../../src/localnet/localnet.ts";
import { networkParty } from "../../../../src/localnet/mpc/network-party.ts";
import { reconfigurationOutput } from "../../../../src/localnet/mpc/reconfiguration-output.ts";
import type { FullnodeObject } from "../../../../src/protocol/chain/chain-reader.ts";
import { createCheapMpc } from "../../localnet/cheap-mpc.ts";

/** The output of a real network key; everything else about this network is a cheap stand-in. */
export const NETWORK_OUTPUT = networkParty(new Uint8Array(32).fill(7), undefined).networkDkgPublicOutput();

/** A localnet whose network keys have this output, and reconfigured outputs. */
export function startChain(
  output = NETWORK_OUTPUT,
  { reconfigured = output, ...options }: LocalnetOptions & { readonly reconfigured?: Uint8Array } = {},
): Promise<Localnet> {
  return startLocalnet({
    mpc: createCheapMpc({
      networkDkgPublicOutput: async () => output,
      networkReconfigurationPublicOutput: async (epoch) => reconfigurationOutput(reconfigured, epoch),
    }),
    ...options,
  });
}

/** The ids of a localnet. */
export function idsOf({ ikaConfig }: Pick<Localnet, "ikaConfig">): IkaIds {
  const { packages, objects } = ikaConfig;
  const shared = (object: { objectID: string; initialSharedVersion: number }) => ({
    objectId: object.objectID,
    initialSharedVersion: BigInt(object.initialSharedVersion),
  });
  return {
    ikaPackage: packages.ikaPackage,
    ikaSystemOriginalPackage: packages.ikaSystemOriginalPackage,
    ikaDwallet2pcMpcOriginalPackage: packages.ikaDwallet2pcMpcOriginalPackage,
    ikaSystemObject: shared(objects.ikaSystemObject),
    ikaDwalletCoordinator: shared(objects.ikaDWalletCoordinator),
  };
}

/** The same fullnode, with every object passed through `change`; undefined: the object does not exist. */
export function lying(
  fullnode: Fullnode,
  change: (object: FullnodeObject, objectId: string) => FullnodeObject | undefined,
): Fullnode {
  return {
    ...fullnode,
    async objects(objectIds, signal) {
      const found = [...(await fullnode.objects(objectIds, signal))];
      return new Map(
        found.flatMap(([objectId, object]) => {
          const changed = change(object, objectId);
          return changed === undefined ? [] : [[objectId, changed] as const];
        }),
      );
    },
  };
}

/** Runs a step as an action does, so that it throws the errors that a caller sees. */
export function act<R>(body: (action: Action) => Promise<R>, timeoutMs = 120_000): Promise<R> {
  return runAction(timeoutMs, {}, body);
}
