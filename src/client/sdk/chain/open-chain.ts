import { isObjectId } from "../../../protocol/chain/object-id.ts";
import type { CryptoEngine } from "../../crypto/engine.ts";
import { loadPart } from "../../crypto/load-part.ts";
import type { Action } from "../action.ts";
import type { ChainAccess } from "../context.ts";
import { TssError } from "../errors.ts";
import { createChainParameters } from "./chain-parameters.ts";
import { createChainSessionSource, readLastChange } from "./chain-session.ts";
import { type ChosenChain, isHttpUrl } from "./choose-chain.ts";
import type { ConnectedFullnode } from "./fullnode.ts";
import { listTable } from "./list-table.ts";
import { announcedIds, type NetworkSource } from "./network.ts";
import { createTrustedChain } from "./trusted-chain.ts";

/**
 * Opens the chain that a client chose. On testnet and mainnet it ignores the service's values. On a localnet they apply
 * unless the caller sets them. It sends nothing before the first read.
 */
export function openChain({ chosen, source, engine }: OpenChainOptions): ChainAccess {
  const { network, ika, chainIdentifier } = chosen;
  let connected: readonly ConnectedFullnode[] | undefined;
  const fullnodes = async (action: Action): Promise<readonly ConnectedFullnode[]> => {
    if (connected !== undefined) return connected;
    const urls = chosen.fullnodeUrls ?? [await announcedUrl(source, action)];
    const { connectFullnode } = await loadPart(() => import("./fullnode.ts"), action.signal);
    connected ??= urls.map((url) => connectFullnode(network, url));
    return connected;
  };
  const fullnodeClients = async (action: Action) =>
    (await fullnodes(action)).map(({ hintClient }) => hintClient);
  const ids = async (action: Action) => ika ?? announcedIds(await source.known(action));
  const chain = createTrustedChain({ chainIdentifier, ids, fullnodes });
  return {
    chainReader: chain.reader,
    ownerOf: chain.ownerOf,
    chainPosition: chain.position,
    async *tableEntries(action, request) {
      yield* listTable(await fullnodes(action), action, request);
    },
    lastChange: async (action, objectId) =>
      await readLastChange((await fullnodes(action))[0]!.hintClient, action, objectId),
    fullnodeClients,
    treasuryId: (action) => chooseTreasury(chosen, source, action),
    parameters: createChainParameters(chain, engine),
    chainSessions: createChainSessionSource(fullnodeClients),
  };
}

/** Options of {@link openChain}. */
export interface OpenChainOptions {
  readonly chosen: ChosenChain;
  /** Names the fullnode and the ids of a localnet. */
  readonly source: NetworkSource;
  readonly engine: CryptoEngine;
}

/** Returns the Treasury that the caller named, or else the one that the service names. */
async function chooseTreasury(
  { treasuryId }: ChosenChain,
  source: NetworkSource,
  action: Action,
): Promise<string> {
  if (treasuryId !== undefined) return treasuryId;
  const { treasuryId: announced } = await source.known(action);
  if (isObjectId(announced)) return announced;
  throw new TssError("NETWORK_MISMATCH", "the service names no Treasury; give the client a treasuryId");
}

async function announcedUrl(source: NetworkSource, action: Action): Promise<string> {
  const { fullnodeUrl } = await source.known(action);
  if (isHttpUrl(fullnodeUrl)) return fullnodeUrl;
  throw new TssError("NETWORK_MISMATCH", "the service names no fullnode; give the client a fullnodeUrl");
}
