import { createAddressList } from "../access/address-block.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../telemetry/log.ts";
import type { ServerOptions } from "../transport/start-server.ts";

/**
 * Returns the connection limits of a port: the maximum numbers, the addresses without a limit, and the observer of
 * refusals.
 */
export function connectionBounds(
  config: Pick<Config, "connections" | "trustedProxies">,
  log: Pick<Log, "warn">,
): Pick<ServerOptions, "limits" | "isTrustedPeer" | "onConnectionRefused"> {
  const { maxCount, maxPerAddressCount } = config.connections;
  return {
    limits: { connectionsCount: maxCount, connectionsPerAddressCount: maxPerAddressCount },
    isTrustedPeer: createAddressList(config.trustedProxies),
    onConnectionRefused: (address) =>
      log.warn(
        { address },
        "refusing connections: MAX_CONNECTIONS or MAX_CONNECTIONS_PER_ADDRESS is reached",
      ),
  };
}
