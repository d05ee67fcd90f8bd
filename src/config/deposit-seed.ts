import { localnetDepositSeed } from "../localnet/seed.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import { Secret } from "../telemetry/secret.ts";
import type { DepositsConfig } from "./deposits.ts";

/**
 * Returns the seed of a network's deposit addresses; undefined if the service takes no deposits there. The default seed
 * of a localnet is public, and the configuration refuses it on other networks.
 */
export function readDepositSeed(
  network: string,
  { masterSeedHex: hex }: Pick<DepositsConfig, "masterSeedHex">,
): Secret<Uint8Array> | undefined {
  if (hex !== undefined) return new Secret(hexToBytes(hex.reveal().toLowerCase()));
  return network === "localnet" ? new Secret(localnetDepositSeed()) : undefined;
}
