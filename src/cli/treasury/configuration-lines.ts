import type { NetworkName } from "../../config/network.ts";

/** Returns the lines that configure a service for a Treasury. */
export function configurationLines(network: NetworkName, ids: ConfiguredIds): string[] {
  const prefix = `SERVICECORE_${network.toUpperCase()}`;
  return [
    "\nThe service's configuration:",
    ...(network === "localnet"
      ? [
          "(A service on the local network needs no configuration: it uses the Treasury that the network started with.)",
        ]
      : []),
    `${prefix}_PACKAGE_ID=${ids.packageId}`,
    `${prefix}_TREASURY_ID=${ids.treasuryId}`,
    `${prefix}_OPERATOR_CAP_IDS=${ids.operatorCapIds}`,
  ];
}

interface ConfiguredIds {
  readonly packageId: string;
  readonly treasuryId: string;
  /** Separated by commas. */
  readonly operatorCapIds: string;
}
