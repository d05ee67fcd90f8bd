import { OBJECT_ID } from "../../protocol/chain/object-id.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { FULLNODE_URL, NETWORK_NAMES, type NetworkName } from "./network.ts";
import { ConfigReader } from "./reader.ts";
import { ConfigError } from "./variables/config-variable.ts";
import { CONFIG_VARIABLES } from "./variables.ts";

/** Reads the settings that the command needs to call a service. Throws a ConfigError that names every fault. */
export function readClientConfig(environment: NodeJS.ProcessEnv): ClientConfig {
  const read = new ConfigReader(environment, CONFIG_VARIABLES);
  const config = {
    url: read.url("TSS_URL"),
    adminKey: read.secret("TSS_ADMIN_KEY", KEY, KEY_FORM) ?? read.secret("ADMIN_API_KEY", KEY, KEY_FORM),
    apiKey: read.secret("TSS_API_KEY", KEY, KEY_FORM),
    dataDirectory: read.text("DATA_DIR"),
    localnetUrl: read.url("LOCALNET_URL"),
    isDatabaseEmbedded: !["DATABASE_URL", "DATABASE_URL_FILE"].some((name) => environment[name]?.trim()),
  };
  if (read.faults.length > 0) throw new ConfigError(read.faults);
  return config;
}

/** The address of a running service, and the command's keys. */
export interface ClientConfig {
  /** Undefined if commands work on the database. */
  readonly url: string | undefined;
  /** An operator's key. Default: `ADMIN_API_KEY`, as on the service's own machine. */
  readonly adminKey: Secret | undefined;
  readonly apiKey: Secret | undefined;
  readonly dataDirectory: string;
  /** The URL of a separate localnet. */
  readonly localnetUrl: string | undefined;
  /** True if the environment configures the embedded database in the data folder. */
  readonly isDatabaseEmbedded: boolean;
}

const KEY = /^[!-~]+$/;
const KEY_FORM = "a key, in visible ASCII characters";

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
    return read.isSet(full) ? read.required(full, OBJECT_ID, "0x and 64 hex digits") : undefined;
  };
  const config: TreasuryConfig = {
    name,
    fullnodeUrl: readUrl(read, name),
    packageId: id("PACKAGE_ID"),
    treasuryId: id("TREASURY_ID"),
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
