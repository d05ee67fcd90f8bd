import type { ClientWithCoreApi } from "@mysten/sui/client";
import type { Action } from "./action.ts";
import { announcedIds } from "./announced-ids.ts";
import { pinsOf } from "./chain-pins.ts";
import { TssError } from "./errors.ts";
import { type ConnectedFullnode, connectFullnode } from "./fullnode.ts";
import type { Network } from "./names.ts";
import type { NetworkSource } from "./network.ts";
import type { TrustedChainOptions } from "./trusted-chain.ts";

/** The caller's word on the chain. */
export interface ChainChoice {
  readonly network: Network;
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  readonly chainIdentifier?: string | undefined;
}

/** The chain that a client believes, and where it looks for hints. */
export interface ChosenChain extends TrustedChainOptions {
  /** The first fullnode, whose word is only a hint. */
  hintClient(action: Action): Promise<ClientWithCoreApi>;
}

/** How many fullnodes one client asks. */
const MAX_FULLNODE_COUNT = 8;

/**
 * Which chain a client believes. On testnet and mainnet everything is pinned in the client, and of what the service says
 * nothing counts. A localnet is whatever its service names, as far as the caller does not say.
 * Throws VALIDATION for URLs that are none, and for another chain identifier than the pinned one.
 */
export function chooseChain(choice: ChainChoice, source: NetworkSource): ChosenChain {
  const { network } = choice;
  const pins = pinsOf(network);
  if (pins !== undefined && choice.chainIdentifier !== undefined) {
    if (choice.chainIdentifier !== pins.chainIdentifier) {
      throw invalid("chainIdentifier", `is not that of ${network}, which the client knows`);
    }
  }
  const urls = chosenUrls(choice) ?? pins?.fullnodeUrls;
  let connected = urls?.map((url) => connectFullnode(network, url));
  const fullnodes = async (action: Action): Promise<readonly ConnectedFullnode[]> => {
    connected ??= [await announcedFullnode(network, source, action)];
    return connected;
  };
  return {
    chainIdentifier: pins?.chainIdentifier ?? choice.chainIdentifier,
    ids: async (action) => pins?.ika ?? announcedIds(await source.known(action)),
    fullnodes,
    hintClient: async (action) => (await fullnodes(action))[0]!.hintClient,
  };
}

function chosenUrls({ fullnodeUrl }: ChainChoice): readonly string[] | undefined {
  if (fullnodeUrl === undefined) return undefined;
  const urls = typeof fullnodeUrl === "string" ? [fullnodeUrl] : [...fullnodeUrl];
  if (urls.length === 0 || urls.length > MAX_FULLNODE_COUNT) {
    throw invalid("fullnodeUrl", `must be 1 to ${MAX_FULLNODE_COUNT} URLs`);
  }
  if (!urls.every(isHttpUrl)) throw invalid("fullnodeUrl", "must be http or https URLs without credentials");
  // A fullnode that is asked twice agrees with itself.
  if (new Set(urls.map((url) => new URL(url).href)).size < urls.length) {
    throw invalid("fullnodeUrl", "must not name a fullnode twice");
  }
  return urls;
}

async function announcedFullnode(
  network: Network,
  source: NetworkSource,
  action: Action,
): Promise<ConnectedFullnode> {
  const { fullnodeUrl } = await source.known(action);
  if (isHttpUrl(fullnodeUrl)) return connectFullnode(network, fullnodeUrl);
  throw new TssError("NETWORK_MISMATCH", "the service names no fullnode; give the client a fullnodeUrl");
}

function isHttpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return /^https?:$/.test(url?.protocol ?? "") && url?.username === "" && url.password === "";
}

function invalid(field: string, problem: string): TssError {
  return new TssError("VALIDATION", `${field}: ${problem}`, { metadata: { field } });
}
