import { isNativeGrpcUrl } from "../../../protocol/chain/native-grpc.ts";
import { nodeHttp2 } from "../../crypto/engines/engine-thread.ts";
import { checkObjectId, invalid } from "../checks.ts";
import type { Network } from "../names.ts";
import { type ChainPins, type IkaObjects, pinsOf } from "./network.ts";

/**
 * Chooses the chain that a client trusts. On testnet and mainnet the client pins everything and ignores the service's
 * values. On a localnet, the service's values apply unless the caller sets them. Throws VALIDATION for a malformed URL,
 * and for a chain identifier or an id of Ika other than the pinned one.
 */
export function chooseChain(choice: ChainChoice): ChosenChain {
  const { network } = choice;
  const pins = pinsOf(network);
  if (pins !== undefined && choice.chainIdentifier !== undefined) {
    if (choice.chainIdentifier !== pins.chainIdentifier) {
      throw invalid("chainIdentifier", `differs from the known chain identifier of ${network}`);
    }
  }
  const fullnodeUrls = chosenUrls(choice) ?? pins?.fullnodeUrls;
  const { treasuryId } = choice;
  if (treasuryId !== undefined) checkObjectId("treasuryId", treasuryId);
  const chainIdentifier = pins?.chainIdentifier ?? choice.chainIdentifier;
  const ika = chosenIka(choice, pins);
  return { network, ika, chainIdentifier, fullnodeUrls, treasuryId };
}

export interface ChainChoice {
  readonly network: Network;
  readonly fullnodeUrl?: string | readonly string[] | undefined;
  readonly chainIdentifier?: string | undefined;
  readonly treasuryId?: string | undefined;
  readonly ika?: IkaObjects | undefined;
}

/** The chain that a client trusts. */
export interface ChosenChain {
  readonly network: Network;
  /** The ids of Ika. Undefined means those that the service names, which only a localnet permits. */
  readonly ika: IkaObjects | undefined;
  /** The digest of the genesis checkpoint. Undefined accepts any, if all fullnodes serve the same chain. */
  readonly chainIdentifier: string | undefined;
  /** The fullnodes to ask. Undefined means the one that the service names. */
  readonly fullnodeUrls: readonly string[] | undefined;
  /** The Treasury. Undefined means the one that the service names. */
  readonly treasuryId: string | undefined;
}

const MAX_FULLNODE_COUNT = 8;

/** Returns a copy, because the caller may change its object. */
function chosenIka({ ika, network }: ChainChoice, pins: ChainPins | undefined): IkaObjects | undefined {
  if (ika === undefined) return pins?.ika;
  const { ikaDwallet2pcMpcOriginalPackage, ikaDwalletCoordinator } = ika;
  const objectId = ikaDwalletCoordinator?.objectId;
  checkObjectId("ika.ikaDwallet2pcMpcOriginalPackage", ikaDwallet2pcMpcOriginalPackage);
  checkObjectId("ika.ikaDwalletCoordinator", objectId);
  const isKnown =
    pins === undefined ||
    (pins.ika.ikaDwallet2pcMpcOriginalPackage === ikaDwallet2pcMpcOriginalPackage &&
      pins.ika.ikaDwalletCoordinator.objectId === objectId);
  if (!isKnown) throw invalid("ika", `differs from the known ids of ${network}`);
  return { ikaDwallet2pcMpcOriginalPackage, ikaDwalletCoordinator: { objectId } };
}

function chosenUrls({ fullnodeUrl }: ChainChoice): readonly string[] | undefined {
  if (fullnodeUrl === undefined) return undefined;
  const urls = typeof fullnodeUrl === "string" ? [fullnodeUrl] : [...fullnodeUrl];
  if (urls.length === 0 || urls.length > MAX_FULLNODE_COUNT) {
    throw invalid("fullnodeUrl", `must be 1 to ${MAX_FULLNODE_COUNT} URLs`);
  }
  if (!urls.every((url) => isUrlOf(/^(https?|grpcs?):$/, url)))
    throw invalid("fullnodeUrl", "must be http(s) or grpc(s) URLs without credentials");
  if (urls.some(isNativeGrpcUrl) && nodeHttp2() === undefined)
    throw invalid("fullnodeUrl", "native gRPC needs Node: use the fullnode's http(s) URL here");
  // A repeated fullnode would only agree with itself, also in another protocol.
  if (new Set(urls.map((url) => new URL(url.replace(/^grpc/i, "http")).href)).size < urls.length) {
    throw invalid("fullnodeUrl", "must not name a fullnode twice");
  }
  return urls;
}

/** Returns whether a text is an http or https URL without credentials. */
export function isHttpUrl(text: string): boolean {
  return isUrlOf(/^https?:$/, text);
}

function isUrlOf(scheme: RegExp, text: string): boolean {
  try {
    const { protocol, host, username, password } = new URL(text);
    return scheme.test(protocol) && host !== "" && username === "" && password === "";
  } catch {
    return false;
  }
}
