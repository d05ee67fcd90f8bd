import type { ConfigVariable } from "./config-variable.ts";

/** Every variable that `tss signer` reads. */
export const SIGNER_VARIABLES = [
  {
    name: "SIGNER_STORE",
    default: "signer-keys.sealed",
    description: "The encrypted file of the keys, vault:<mount>/<path>, or memory",
  },
  {
    name: "SIGNER_SEAL",
    default: "passphrase",
    description:
      "What seals the seeds: passphrase, aws-kms:<key>, gcp-kms:<key> or vault-transit:<mount>/<key>",
  },
  {
    name: "SIGNER_PASSPHRASE_FILE",
    description: "The file with the passphrase of SIGNER_STORE, mode 0600; unset: asks on the terminal",
  },
  {
    name: "SIGNER_MASTER_SEED_FILE",
    description: "The file with the seed that new keys derive from, 64 hex digits, mode 0600; unset: random",
  },
  {
    name: "SIGNER_MASTER_SEED_HEX",
    description: "The same seed, for platforms that have no files of secrets",
    secret: true,
  },
  { name: "SIGNER_VAULT_URL", description: "The URL of HashiCorp Vault or OpenBao, without a path" },
  { name: "SIGNER_VAULT_TOKEN_FILE", description: "The file with Vault's token, mode 0600" },
  { name: "SIGNER_VAULT_ROLE", description: "The role of Vault's login by Kubernetes, instead of a token" },
  {
    name: "SIGNER_VAULT_LOGIN_MOUNT",
    default: "kubernetes",
    description: "The mount of Vault's login by Kubernetes",
  },
  {
    name: "SIGNER_VAULT_JWT_FILE",
    default: "/var/run/secrets/kubernetes.io/serviceaccount/token",
    description: "The file with the token of the Pod's service account",
  },
  { name: "SIGNER_VAULT_NAMESPACE", description: "Vault's namespace" },
  {
    name: "SIGNER_VAULT_CA_FILE",
    description: "The authority of Vault's certificate, PEM; unset: those of Node",
  },
  {
    name: "SIGNER_SOCKET",
    default: "signer.sock",
    description: "The Unix socket, mode 0600, which needs no token; off: none",
  },
  {
    name: "SIGNER_PORT",
    description: "The TCP port, which needs SIGNER_TOKEN_FILE or SIGNER_ACCESS_FILE; 0 selects a free port",
  },
  {
    name: "SIGNER_HOST",
    default: "127.0.0.1",
    description:
      "The address of SIGNER_PORT; other than loopback needs SIGNER_TLS_CERT_FILE and SIGNER_TLS_KEY_FILE",
  },
  {
    name: "SIGNER_TOKEN_FILE",
    description: "The file with the token that callers of SIGNER_PORT send, 32 characters or more, mode 0600",
  },
  { name: "SIGNER_TLS_CERT_FILE", description: "Certificate chain of SIGNER_PORT, PEM" },
  { name: "SIGNER_TLS_KEY_FILE", description: "The certificate's private key, PEM" },
  {
    name: "SIGNER_TLS_CLIENT_CA_FILE",
    description: "The authority that signs the certificates of callers, PEM; unset: callers need none",
  },
  {
    name: "SIGNER_ACCESS_FILE",
    description: "The file that says which caller may use which keys; unset: every caller may use every key",
  },
  {
    name: "SIGNER_SERVICE_URL",
    description: "The service's URL; unset: the quick start that runs on DATA_DIR",
  },
  {
    name: "SIGNER_API_KEY_FILE",
    description: "The file with the project's API key, with the scopes onboard, sign and read, mode 0600",
  },
  { name: "SIGNER_NETWORK", description: "localnet, testnet or mainnet; required with SIGNER_SERVICE_URL" },
  {
    name: "SIGNER_FULLNODE_URLS",
    description:
      "Fullnodes to read the chain from, comma-separated, which must agree; unset: as for the SDK, Sui's public one",
    secret: true,
  },
  {
    name: "SIGNER_TREASURY_ID",
    description: "The Treasury that keeps the dWallets' capabilities; unset: the one that the service names",
  },
  {
    name: "SIGNER_ETHEREUM_CHAIN_ID",
    description: "The chain that Ethereum's JSON-RPC signs for; unset: the signer serves no JSON-RPC",
  },
  {
    name: "SIGNER_ETHEREUM_URL",
    description: "The node that answers other methods and fills transactions; unset: it only signs",
    secret: true,
  },
  {
    name: "SIGNER_ETHEREUM_SOCKET",
    description: "A Unix socket, mode 0600, for JSON-RPC without HTTP, as geth's ipc; unset: none",
  },
  {
    name: "SIGNER_ETHEREUM_MAX_FEE_WEI",
    default: "100000000000000000",
    description: "The most that a transaction may pay for gas if the node chooses gas or fees",
  },
  {
    name: "SIGNER_EXIT_DRILL_HOURS",
    default: "24",
    description: "How often the signer rehearses the exit of each key; 0 for never",
  },
  {
    name: "SIGNER_EXIT_DRILL_REPORT",
    default: "true",
    description: "Whether the signer tells the service of each rehearsal, for the console: true or false",
  },
  { name: "LOG_LEVEL", default: "info", description: "trace, debug, info, warn, error or silent" },
  { name: "DATA_DIR", default: ".data", description: "The folder of the quick start" },
] as const satisfies readonly ConfigVariable[];
