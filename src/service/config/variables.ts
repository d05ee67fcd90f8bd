import { DEPOSIT_VARIABLES, PRICE_VARIABLES, SWEEP_VARIABLES } from "./variables/billing-variables.ts";
import type { ConfigVariable } from "./variables/config-variable.ts";
import { DATABASE_VARIABLES } from "./variables/database-variables.ts";
import { NETWORK_VARIABLES } from "./variables/network-variables.ts";
import { WORK_VARIABLES } from "./variables/work-variables.ts";

/** Every variable that the service reads. `tss config` prints them, and `.env.example` is generated from them. */
export const CONFIG_VARIABLES = [
  { name: "HOST", default: "127.0.0.1", description: "Address to listen on" },
  {
    name: "PORT",
    default: "3000",
    description: "Port of gRPC, Connect, gRPC-web and REST; 0 selects a free port",
  },
  {
    name: "METRICS_PORT",
    description: "A separate port that serves GET /metrics to anyone; 0 selects a free port",
  },
  {
    name: "METRICS_PUBLIC",
    description:
      "Whether PORT serves GET /metrics to anyone instead of only to an admin key: true or false. Default: true on the localnet without DATABASE_URL, otherwise false",
  },
  {
    name: "CONSOLE",
    default: "on",
    description: "Whether PORT serves the web console at /console: on or off",
  },
  {
    name: "PROTOCOL_PARAMETERS",
    default: "on",
    description:
      "Whether to build and serve protocol parameters, which other clients than this package's download: on or off",
  },
  {
    name: "PROCESS_TYPE",
    default: "all",
    description:
      "The role of this process: api serves calls, worker acts on the chain, all does both; api and worker need DATABASE_URL, and LOCALNET_URL on the localnet",
  },
  {
    name: "DATA_DIR",
    default: ".data",
    description: "Folder of the embedded database, the localnet and caches",
  },
  {
    name: "DATABASE_URL",
    description: "PostgreSQL; unset: PGlite in DATA_DIR, one process only",
    secret: true,
  },
  ...DATABASE_VARIABLES,
  {
    name: "REDIS_URL",
    description:
      "Redis, Sentinels or a Cluster for wake-ups, rate limits and revoked keys across replicas; unset: in-process",
    secret: true,
  },
  {
    name: "ADMIN_API_KEY",
    description: "Key of the Admin calls, 32 characters or more",
    secret: true,
    uselessIn: "worker",
  },
  {
    name: "AUDIT_SEAL_SECRET_HEX",
    description:
      "Ed25519 secret that signs the audit trail's seals, 64 hex digits; unset: seals are not signed",
    secret: true,
    uselessIn: "api",
  },
  ...NETWORK_VARIABLES,
  { name: "HOT_WALLET_PROVIDER", default: "env", description: "The source of the hot wallet's key: env" },
  {
    name: "HOT_WALLET_SUI_SECRET_HEX",
    description:
      "The hot wallet's Ed25519 secret, 64 hex digits; unset on the localnet: its public development key",
    secret: true,
    uselessIn: "api",
    perNetwork: "own",
  },
  {
    name: "GAS_STATION_LOCALNET_SECRET_HEX",
    description: "Ed25519 secret of the key that pays for gas, 64 hex digits; unset: the hot wallet pays",
    secret: true,
    uselessIn: "api",
  },
  {
    name: "GAS_STATION_TESTNET_SECRET_HEX",
    description: "The same on testnet",
    secret: true,
    uselessIn: "api",
  },
  {
    name: "GAS_STATION_MAINNET_SECRET_HEX",
    description: "The same on mainnet",
    secret: true,
    uselessIn: "api",
  },
  ...PRICE_VARIABLES,
  ...DEPOSIT_VARIABLES,
  ...SWEEP_VARIABLES,
  ...WORK_VARIABLES,
  {
    name: "RATE_LIMIT_READ_PER_SECOND",
    default: "1000",
    description:
      "Calls of the cost class READ per second and key, or per address for calls without a key; 0: no limit",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_WRITE_PER_SECOND",
    default: "300",
    description: "The same for the cost class WRITE",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_CHAIN_PER_SECOND",
    default: "300",
    description: "The same for the cost class CHAIN",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_VERIFY_PER_SECOND",
    default: "100",
    description: "The same for the cost class VERIFY: users' halves",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_STREAM_PER_SECOND",
    default: "100",
    description: "Streams opened per second and key or address",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_SESSIONS_FACTOR",
    default: "10",
    description: "How many times one user's rates all sessions of a project may use together; 0: no limit",
    perNetwork: "override",
  },
  {
    name: "RATE_LIMIT_REFUSED_KEY_PER_SECOND",
    default: "10",
    description: "Calls with a missing or wrong key per second and address; 0: no limit",
  },
  {
    name: "RATE_LIMIT_OPEN_PER_SECOND",
    default: "20",
    description:
      "Calls of gRPC's health and reflection, of GET /openapi.json and of the console's files, per second and address; 0: no limit",
  },
  { name: "MAX_STREAMS_PER_KEY", default: "1000", description: "Open streams per key in one process" },
  { name: "MAX_STREAMS_PER_PROJECT", default: "2000", description: "The same per project" },
  {
    name: "MAX_STREAMS_PER_ADDRESS",
    default: "100",
    description: "The same per address for calls without a key",
  },
  {
    name: "RATE_LIMIT_BURST_SECONDS",
    default: "10",
    description: "Burst size, as seconds of calls at the rate limit, 1 to 3600",
    perNetwork: "override",
  },
  { name: "MAX_CONNECTIONS", default: "10000", description: "Open connections per port; 0: no limit" },
  {
    name: "MAX_CONNECTIONS_PER_ADDRESS",
    default: "256",
    description: "The same per address or IPv6 /64, except TRUSTED_PROXIES; 0: no limit",
  },
  {
    name: "TRUSTED_PROXIES",
    default: "",
    description: "Proxies with trusted forwarding headers: addresses or CIDR blocks",
  },
  { name: "LOG_LEVEL", default: "info", description: "trace, debug, info, warn, error or silent" },
  { name: "DRAIN_DELAY_MS", default: "0", description: "Time to report not ready before closing" },
  {
    name: "DRAIN_TIMEOUT_MS",
    default: "10000",
    description: "Time for calls in flight to finish when stopping",
  },
  {
    name: "TLS_CERT_FILE",
    description: "Certificate chain, PEM; set with TLS_KEY_FILE: the port then speaks only TLS",
  },
  { name: "TLS_KEY_FILE", description: "The certificate's private key, PEM" },
  {
    name: "ALLOW_PUBLIC_PLAINTEXT",
    default: "false",
    description:
      "Whether HOST may be a public address without TLS, because a proxy terminates TLS: true or false",
  },
  {
    name: "OTEL_EXPORTER_OTLP_ENDPOINT",
    description:
      "Base URL of an OTLP/HTTP receiver for traces; unset: no traces, and the tracing code is not loaded",
    secret: true,
  },
  {
    name: "OTEL_EXPORTER_OTLP_HEADERS",
    description: "Headers for that receiver, as name=value,name=value, values percent-encoded",
    secret: true,
  },
  {
    name: "OTEL_SERVICE_NAME",
    default: "threshold-signing-service",
    description: "The service's name in traces",
  },
  {
    name: "OTEL_TRACES_SAMPLER",
    default: "parentbased_traceidratio",
    description:
      "Which traces are recorded: always_on, always_off, traceidratio, or one of them after parentbased_",
  },
  {
    name: "OTEL_TRACES_SAMPLER_ARG",
    default: "1",
    description: "The share of traces that traceidratio records, 0 to 1",
  },
  {
    name: "TSS_URL",
    description:
      "For the command tss: the service to call; unset: the one that runs on DATA_DIR, or else the database directly",
  },
  {
    name: "TSS_ADMIN_KEY",
    description: "For the command tss: an operator's key; unset: ADMIN_API_KEY",
    secret: true,
  },
  { name: "TSS_API_KEY", description: "For the command tss: a project's key", secret: true },
  { name: "CORS_ORIGINS", default: "*", description: "Browser origins that may call, comma-separated" },
  {
    name: "PUBLIC_URLS",
    default: "",
    description:
      "The URLs at which callers reach the service, comma-separated, each with the path that a proxy removes; the proofs of sessions must then be for one of them. Empty: only the path of a proof's URL counts",
  },
  {
    name: "WEBHOOK_SECRET_HEX",
    description:
      "The secret from which those of webhook endpoints follow, 64 hex digits, the same on all replicas; unset: no webhooks, except on the localnet without DATABASE_URL, which has a public development secret",
    secret: true,
  },
  {
    name: "WEBHOOK_PRIVATE_ADDRESSES",
    description:
      "Whether webhooks may go to http and to addresses that are not public: true or false. Default: true on the localnet without DATABASE_URL, otherwise false",
  },
  {
    name: "IDENTITY_PRIVATE_ADDRESSES",
    description:
      "Whether the keys of identity providers may be at http and at addresses that are not public: true or false. Default: true on the localnet without DATABASE_URL, otherwise false",
  },
] as const satisfies readonly ConfigVariable[];

/** The name of a variable of the table. */
export type VariableName = (typeof CONFIG_VARIABLES)[number]["name"];
