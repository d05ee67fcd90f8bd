import { Secret } from "../telemetry/secret.ts";
import { ConfigError } from "./config-error.ts";
import { FULLNODE_URL, NETWORK_NAMES, type NetworkName } from "./network.ts";
import { ConfigReader } from "./reader.ts";
import { CONFIG_VARIABLES } from "./variables.ts";

/**
 * Reads only the settings that the administration of a Treasury needs: the network, its fullnode and the ids of the
 * Treasury. Throws a ConfigError that names every fault.
 *
 * @param given the network; default the only one of `NETWORKS`
 */
export function readTreasuryConfig(
  environment: NodeJS.ProcessEnv,
  given: NetworkName | undefined,
): TreasuryConfig {
  const read = new ConfigReader(environment, CONFIG_VARIABLES);
  const name = given ?? readOnlyNetwork(read);
  const id = (variable: "PACKAGE_ID" | "TREASURY_ID"): string | undefined => {
    if (name === "localnet") return undefined;
    const full = `SERVICECORE_${name === "testnet" ? "TESTNET" : "MAINNET"}_${variable}` as const;
    return read.isSet(full) ? read.required(full, /^0x[0-9a-f]{64}$/, "0x and 64 hex digits") : undefined;
  };
  const config: TreasuryConfig = {
    name,
    fullnodeUrl: readUrl(read, name),
    ...{ packageId: id("PACKAGE_ID"), treasuryId: id("TREASURY_ID") },
  };
  if (read.faults.length > 0) throw new ConfigError(read.faults);
  return config;
}

/** The network and the ids of a Treasury. */
export interface TreasuryConfig {
  readonly name: NetworkName;
  /** Undefined if none is configured. A secret, because a provider's URL contains a key. */
  readonly fullnodeUrl: Secret | undefined;
  readonly packageId: string | undefined;
  readonly treasuryId: string | undefined;
}

type Reader = ConfigReader<(typeof CONFIG_VARIABLES)[number]["name"]>;

function readUrl(read: Reader, name: NetworkName): Secret | undefined {
  if (name === "localnet") {
    const url = read.url("LOCALNET_URL");
    return url === undefined ? undefined : new Secret(url);
  }
  const variable = name === "testnet" ? "SUI_GRPC_URL_TESTNET" : "SUI_GRPC_URL_MAINNET";
  if (!read.isSet(variable)) return undefined;
  return read.requiredSecretUrls(variable, FULLNODE_URL, "http(s) or grpc(s) URLs, comma-separated")[0];
}

function readOnlyNetwork(read: Reader): NetworkName {
  const names = read.list("NETWORKS");
  const known = NETWORK_NAMES.find((one) => one === names[0]);
  if (names.length > 1) read.fault("NETWORKS", names.join(","), "one network, or name it with --network");
  else if (known === undefined) read.fault("NETWORKS", names[0], `one of ${NETWORK_NAMES.join(", ")}`);
  return known ?? "localnet";
}
