import { OBJECT_ID } from "../../protocol/chain/object-id.ts";
import type { Secret } from "../platform/telemetry/secret.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** The networks that the service knows. */
export const NETWORK_NAMES = ["localnet", "testnet", "mainnet"] as const;

/** One of {@link NETWORK_NAMES}. */
export type NetworkName = (typeof NETWORK_NAMES)[number];

/** Reads the names of the served networks. Refuses the localnet beside another network. */
export function readNetworkNames(read: ConfigReader<VariableName>): readonly [NetworkName, ...NetworkName[]] {
  const names = read.list("NETWORKS");
  const known = names.flatMap((name) => NETWORK_NAMES.find((one) => one === name) ?? []);
  const [first, ...others] = known;
  for (const name of names)
    if (!known.some((one) => one === name))
      read.fault("NETWORKS", name, `one of ${NETWORK_NAMES.join(", ")}`);
  if (new Set(known).size < known.length) read.fault("NETWORKS", names.join(","), "each network once");
  if (known.includes("localnet") && others.length > 0)
    read.fault("NETWORKS", names.join(","), "localnet alone, or testnet and mainnet");
  return first === undefined ? ["localnet"] : [first, ...others];
}

/** Reads the address of a network. */
export function readNetworkAddress(read: ConfigReader<VariableName>, name: NetworkName): NetworkAddress {
  if (name === "localnet") {
    return {
      name,
      port: read.integer("LOCALNET_PORT", 0, 65_535),
      url: read.publicUrl("LOCALNET_URL"),
    };
  }
  const upper = name === "testnet" ? "TESTNET" : "MAINNET";
  const id = (variable: VariableName): string => read.required(variable, OBJECT_ID, "0x and 64 hex digits");
  const [fullnodeUrl, ...otherFullnodeUrls] = read.requiredSecretUrls(
    `SUI_GRPC_URL_${upper}`,
    FULLNODE_URL,
    "http(s) or grpc(s) URLs, comma-separated",
  );
  return {
    name,
    fullnodeUrl,
    otherFullnodeUrls,
    publicFullnodeUrl: read.publicUrl(`SUI_GRPC_PUBLIC_URL_${upper}`),
    treasury: {
      packageId: id(`SERVICECORE_${upper}_PACKAGE_ID`),
      treasuryId: id(`SERVICECORE_${upper}_TREASURY_ID`),
      operatorCapIds: read
        .required(
          `SERVICECORE_${upper}_OPERATOR_CAP_IDS`,
          /^(0x[0-9a-f]{64},?)+$/,
          "object ids, comma-separated",
        )
        .split(",")
        .filter(Boolean),
    },
  };
}

/** The URL of a fullnode: gRPC-web over http(s), or gRPC over HTTP/2 with grpcs (TLS) or grpc (clear text). */
export const FULLNODE_URL = /^(?:https?|grpcs?):\/\/[^/]/;

/** The address of the chain. */
export type NetworkAddress =
  | {
      readonly name: "localnet";
      readonly port: number;
      /** The URL of a separate localnet; undefined to embed one. GetNetwork shows it to clients. */
      readonly url: string | undefined;
    }
  | {
      readonly name: "testnet" | "mainnet";
      /** The service's own fullnode. A secret, because a provider's URL contains a key. */
      readonly fullnodeUrl: Secret;
      /** Further fullnodes, in the order in which they are tried. */
      readonly otherFullnodeUrls: readonly Secret[];
      /** The fullnode that GetNetwork shows to clients; undefined for none. */
      readonly publicFullnodeUrl: string | undefined;
      readonly treasury: {
        readonly packageId: string;
        readonly treasuryId: string;
        readonly operatorCapIds: readonly string[];
      };
    };
