import type { GetNetworkResponse } from "../../gen/proto/tss/v1/onboarding_pb.ts";
import type { Action } from "./action.ts";
import { announcedIds, checkAnnouncedIds } from "./announced-ids.ts";
import { call } from "./call.ts";
import { pinsOf } from "./chain-pins.ts";
import type { RawClients } from "./context.ts";
import { TssError } from "./errors.ts";
import type { Network } from "./names.ts";

/** Reads GetNetwork and remembers the last answer. */
export interface NetworkSource {
  /** Asks the service. */
  read(action: Action): Promise<GetNetworkResponse>;
  /** The last answer, or a fresh one. */
  known(action: Action): Promise<GetNetworkResponse>;
}

/**
 * A source that refuses, as NETWORK_MISMATCH, a service of another network, and one that names other ids of Ika on a
 * public network than the client knows.
 */
export function createNetworkSource(onboarding: RawClients["onboarding"], network: Network): NetworkSource {
  const pins = pinsOf(network);
  let last: GetNetworkResponse | undefined;
  const read = async (action: Action): Promise<GetNetworkResponse> => {
    const answer = await call(action, (options) => onboarding.getNetwork({}, options));
    if (answer.network !== network) {
      throw new TssError("NETWORK_MISMATCH", `the service does not serve ${network}`);
    }
    if (pins !== undefined) checkAnnouncedIds(pins.ika, announcedIds(answer));
    last = answer;
    return answer;
  };
  return { read, known: async (action) => last ?? (await read(action)) };
}
