import { loadConfig } from "../../../src/service/config/config.ts";
import type { NetworkConfig } from "../../../src/service/config/networks.ts";

/** The configuration of the local network that a service without settings has, with some other values. */
export function networkConfig(other: Partial<NetworkConfig> = {}): NetworkConfig {
  return { ...loadConfig({}).networks[0], ...other };
}
