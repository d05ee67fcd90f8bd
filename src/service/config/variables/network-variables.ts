import type { ConfigVariable } from "./config-variable.ts";

/** The variables of networks and their addresses, a part of the table of all variables. */
export const NETWORK_VARIABLES = [
  {
    name: "NETWORKS",
    default: "localnet",
    description: "The networks to serve, comma-separated: testnet and mainnet, or localnet alone",
  },
  {
    name: "LOCALNET_PORT",
    default: "9000",
    description: "Port of the embedded localnet's fullnode; 0 selects a free port",
  },
  { name: "LOCALNET_URL", description: "URL of a separate localnet; unset: embed one" },
  {
    name: "SUI_GRPC_URL_TESTNET",
    description:
      "The service's own testnet fullnodes, comma-separated, in the order in which they are tried; https:// takes gRPC-web, grpcs:// native gRPC over HTTP/2; a URL may contain a provider's key and stays secret",
    secret: true,
  },
  { name: "SUI_GRPC_URL_MAINNET", description: "The same on mainnet", secret: true },
  {
    name: "SUI_GRPC_PUBLIC_URL_TESTNET",
    description: "The public testnet fullnode that GetNetwork names; unset: none",
  },
  { name: "SUI_GRPC_PUBLIC_URL_MAINNET", description: "The same on mainnet" },
  { name: "SERVICECORE_TESTNET_PACKAGE_ID", description: "The Treasury's package on testnet" },
  { name: "SERVICECORE_TESTNET_TREASURY_ID", description: "The shared Treasury on testnet" },
  {
    name: "SERVICECORE_TESTNET_OPERATOR_CAP_IDS",
    description: "OperatorCaps of the hot wallet, comma-separated",
  },
  { name: "SERVICECORE_MAINNET_PACKAGE_ID", description: "The Treasury's package on mainnet" },
  { name: "SERVICECORE_MAINNET_TREASURY_ID", description: "The shared Treasury on mainnet" },
  {
    name: "SERVICECORE_MAINNET_OPERATOR_CAP_IDS",
    description: "OperatorCaps of the hot wallet, comma-separated",
  },
] as const satisfies readonly ConfigVariable[];
