import { readFileSync } from "node:fs";
import type { TlsOptions } from "../../transport/connections/split-connections.ts";
import type { ServerOptions } from "../../transport/start-server.ts";
import { createAddressList } from "../access/address-block.ts";
import type { Config } from "../config/config.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/** Reads the configured certificate and its key. Throws if a file cannot be read. */
export function readTls({ certificateFile, keyFile }: NonNullable<Config["tls"]>): TlsOptions {
  return { certificatePem: readFileSync(certificateFile, "utf8"), keyPem: readFileSync(keyFile, "utf8") };
}

/** Runs a function that listens on a configured port. If the port is taken, the error names the variable to change. */
export async function listening<T>(variable: string, port: number, listen: () => Promise<T>): Promise<T> {
  try {
    return await listen();
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE")) throw cause;
    throw new Error(`port ${port} is taken; set ${variable} to another port, or to 0 for a free one`, {
      cause,
    });
  }
}

/**
 * Returns the connection limits of a port: the maximum numbers, the addresses without a limit, and the observer of
 * refusals.
 */
export function connectionBounds(
  config: Pick<Config, "connections" | "trustedProxies">,
  log: Log,
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
