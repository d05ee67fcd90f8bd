import type { GetNetworkResponse } from "../../gen/client/tss/v1/onboarding_pb.ts";
import type { Action } from "./action.ts";
import { announcedIds, checkAnnouncedIds } from "./announced-ids.ts";
import { pinsOf } from "./chain-pins.ts";
import type { RawClients } from "./context.ts";
import { TssError } from "./errors.ts";
import type { Network } from "./names.ts";
import type { ServiceCaller } from "./service-caller.ts";

/**
 * Creates a source of GetNetwork's answer. It throws NETWORK_MISMATCH for a service of another network, and, on a
 * public network, for a service that announces other Ika ids than the client pins.
 */
export function createNetworkSource(
  { raw, call }: { readonly raw: RawClients; readonly call: ServiceCaller },
  network: Network,
): NetworkSource {
  const pins = pinsOf(network);
  let last: GetNetworkResponse | undefined;
  const read = async (action: Action): Promise<GetNetworkResponse> => {
    const answer = await call(action, (options) => raw.onboarding.getNetwork({}, options));
    if (answer.network !== network) {
      throw new TssError("NETWORK_MISMATCH", `the service does not serve ${network}`);
    }
    if (pins !== undefined) checkAnnouncedIds(pins.ika, announcedIds(answer));
    last = answer;
    return answer;
  };
  return { read, known: async (action) => last ?? (await read(action)) };
}

/** Calls GetNetwork and caches the last answer. */
export interface NetworkSource {
  read(action: Action): Promise<GetNetworkResponse>;
  /** Returns the cached answer, or calls the service. */
  known(action: Action): Promise<GetNetworkResponse>;
}
